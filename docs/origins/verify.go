// Verifies a pass with nothing but the standard library: go run verify.go PASS KEY ROOM [NOW]
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Claims are what a pass says.
type Claims struct {
	EventID   string `json:"event_id"`
	DeviceID  string `json:"device_id,omitempty"`
	UserID    string `json:"user_id,omitempty"`
	Class     string `json:"class"`
	Slot      string `json:"slot,omitempty"`
	Number    uint64 `json:"num"`
	Epoch     uint64 `json:"epoch"`
	IssuedAt  int64  `json:"issued_at"`
	Admitted  int64  `json:"admitted_at"`
	ExpiresAt int64  `json:"expires_at"`
	Nonce     string `json:"nonce"`
	Exp       int64  `json:"exp"`
}

const skew = 30 // seconds that clocks may differ

// Verify returns the claims of a good pass.
func Verify(token, key, room string, now time.Time) (*Claims, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, errors.New("not a pass")
	}
	unpack := base64.RawURLEncoding.Strict().DecodeString
	header, err := unpack(parts[0])
	if err != nil {
		return nil, errors.New("not a pass")
	}
	var said struct{ Alg, Typ string }
	if json.Unmarshal(header, &said) != nil || said.Alg != "HS256" || said.Typ != "anteroom-pass" {
		return nil, errors.New("not a pass")
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(parts[0] + "." + parts[1]))
	given, err := unpack(parts[2])
	if err != nil || !hmac.Equal(given, mac.Sum(nil)) {
		return nil, errors.New("not signed by this key")
	}
	body, err := unpack(parts[1])
	if err != nil {
		return nil, errors.New("not a pass")
	}
	var claims Claims
	if json.Unmarshal(body, &claims) != nil {
		return nil, errors.New("not a pass")
	}
	if claims.EventID != room {
		return nil, errors.New("for another room")
	}
	if claims.Exp+skew <= now.Unix() {
		return nil, errors.New("expired")
	}
	return &claims, nil
}

func main() {
	now := time.Now()
	if len(os.Args) > 4 {
		seconds, _ := strconv.ParseInt(os.Args[4], 10, 64)
		now = time.Unix(seconds, 0)
	}
	claims, err := Verify(os.Args[1], os.Args[2], os.Args[3], now)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	text, _ := json.Marshal(claims)
	fmt.Println(string(text))
}
