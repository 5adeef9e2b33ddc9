// Verifies a pass with nothing but the JDK (17 or newer): java Verify.java PASS KEY ROOM [NOW]
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Verify {
    static final long SKEW = 30; // seconds that clocks may differ

    /** The claims of a good pass as JSON; throws otherwise. Read them with the JSON library of your choice. */
    static String verify(String token, String key, String room, long now) throws GeneralSecurityException {
        String[] parts = token.split("\\.", -1);
        if (parts.length != 3) throw new GeneralSecurityException("not a pass");
        String header = unpack(parts[0]);
        if (!"HS256".equals(text(header, "alg")) || !"anteroom-pass".equals(text(header, "typ")))
            throw new GeneralSecurityException("not a pass");
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        byte[] expected = mac.doFinal((parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII));
        if (!MessageDigest.isEqual(expected, bytes(parts[2]))) throw new GeneralSecurityException("not signed by this key");
        // Signed: from here on every byte is ours.
        String claims = unpack(parts[1]);
        if (!room.equals(text(claims, "event_id"))) throw new GeneralSecurityException("for another room");
        Matcher exp = Pattern.compile("\"exp\":(\\d+)").matcher(claims);
        if (!exp.find() || Long.parseLong(exp.group(1)) + SKEW <= now) throw new GeneralSecurityException("expired");
        return claims;
    }

    static byte[] bytes(String part) throws GeneralSecurityException {
        try {
            return Base64.getUrlDecoder().decode(part);
        } catch (IllegalArgumentException problem) {
            throw new GeneralSecurityException("not a pass");
        }
    }

    static String unpack(String part) throws GeneralSecurityException {
        return new String(bytes(part), StandardCharsets.UTF_8);
    }

    static String text(String json, String name) {
        Matcher found = Pattern.compile("\"" + name + "\":\"([^\"\\\\]*)\"").matcher(json);
        return found.find() ? found.group(1) : null;
    }

    public static void main(String[] args) {
        try {
            long now = args.length > 3 ? Long.parseLong(args[3]) : System.currentTimeMillis() / 1000;
            System.out.println(verify(args[0], args[1], args[2], now));
        } catch (GeneralSecurityException problem) {
            System.err.println(problem.getMessage());
            System.exit(1);
        }
    }
}
