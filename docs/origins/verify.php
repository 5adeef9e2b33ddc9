<?php
// Verifies a pass with nothing but PHP itself: php verify.php PASS KEY ROOM [NOW]

/** The claims of a good pass; throws otherwise. */
function verify(string $token, string $key, string $room, ?int $now = null, int $skew = 30): array
{
    $parts = explode('.', $token);
    if (count($parts) !== 3) throw new RuntimeException('not a pass');
    [$header, $claims, $signature] = $parts;
    $unpack = fn (string $part) => base64_decode(strtr($part, '-_', '+/'), true);
    $said = json_decode((string) $unpack($header), true);
    if (($said['alg'] ?? '') !== 'HS256' || ($said['typ'] ?? '') !== 'anteroom-pass') throw new RuntimeException('not a pass');
    $expected = hash_hmac('sha256', "$header.$claims", $key, true);
    if (!hash_equals($expected, (string) $unpack($signature))) throw new RuntimeException('not signed by this key');
    $claimed = json_decode((string) $unpack($claims), true);
    if (($claimed['event_id'] ?? '') !== $room) throw new RuntimeException('for another room');
    if ($claimed['exp'] + $skew <= ($now ?? time())) throw new RuntimeException('expired');
    return $claimed;
}

if (PHP_SAPI === 'cli' && realpath($argv[0]) === __FILE__) {
    try {
        echo json_encode(verify($argv[1], $argv[2], $argv[3], isset($argv[4]) ? (int) $argv[4] : null), JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE), "\n";
    } catch (RuntimeException $problem) {
        fwrite(STDERR, $problem->getMessage() . "\n");
        exit(1);
    }
}
