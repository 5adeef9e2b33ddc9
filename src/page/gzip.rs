//! A gzip stream put together from pieces that were compressed beforehand.
//!
//! Owns the format (RFC 1951, 1952) as far as a page needs it:
//!
//! ```text
//!   header │ piece, deflated, ends on a byte │ stored block: holes │ piece │ … │ empty last block │ CRC-32, length
//! ```
//! A piece never refers to bytes before itself, so it may stand anywhere. What is written between pieces goes
//! in uncompressed. The checksum of a piece is known; the checksum of everything before it is moved along by
//! one multiplication ([`Shift`]), so a page costs its holes and a copy, whatever its size.

use flate2::{Compress, Compression, FlushCompress};

/// A page has no file name and no time; unknown system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255];

/// An empty block in the fixed code, marked as the last: two bytes instead of the five of a stored one.
const LAST: [u8; 2] = [3, 0];

/// What a stored block can hold.
const MAX_STORED: usize = 0xffff;

/// A piece of text in compressed form.
#[derive(Debug)]
pub(super) struct Piece {
    bytes: Box<[u8]>,
    length: usize,
    crc: u32,
    /// What becomes of a checksum when the piece follows.
    shift: Shift,
}

impl Piece {
    /// None if it is better stored as it is: too short, or not made smaller.
    pub(super) fn new(text: &[u8]) -> Option<Piece> {
        let bytes = deflated(text);
        // What ends a stored block and starts another costs five bytes.
        (bytes.len() + 5 < text.len()).then(|| Piece {
            bytes: bytes.into(),
            length: text.len(),
            crc: crc32fast::hash(text),
            shift: Shift::by(text.len()),
        })
    }

    /// In the stream.
    pub(super) fn packed(&self) -> usize {
        self.bytes.len()
    }
}

/// The multiplication by x^(8 · length), worked out beforehand for each value of each four bits of a checksum: eight
/// look-ups instead of thirty-two steps, one after the other, for every piece of every page.
#[derive(Debug)]
struct Shift(Box<[[u32; 16]; 8]>);

impl Shift {
    fn by(length: usize) -> Shift {
        let power = power(8 * length as u64);
        let row =
            |nth: usize| std::array::from_fn(|bits| multiply(power, (bits as u32) << (4 * nth)));
        Shift(Box::new(std::array::from_fn(row)))
    }

    fn of(&self, crc: u32) -> u32 {
        let part = |(nth, row): (usize, &[u32; 16])| row[(crc >> (4 * nth) & 15) as usize];
        self.0.iter().enumerate().map(part).fold(0, |sum, part| sum ^ part)
    }
}

/// Deflate with a full flush: ends on a byte, and what follows does not refer to it.
fn deflated(text: &[u8]) -> Vec<u8> {
    let mut compress = Compress::new(Compression::best(), false);
    let mut bytes = Vec::with_capacity(text.len() + 64);
    loop {
        let done = compress.total_in() as usize;
        compress
            .compress_vec(&text[done..], &mut bytes, FlushCompress::Full)
            .expect("memory to memory");
        if compress.total_in() as usize == text.len() && bytes.len() < bytes.capacity() {
            return bytes;
        }
        bytes.reserve(bytes.capacity());
    }
}

/// A whole text as a gzip file.
pub(super) fn whole(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut stream = Stream::start(&mut out);
    match Piece::new(text) {
        Some(piece) => stream.piece(&piece),
        None => stream.stored(|out| out.extend_from_slice(text)),
    }
    stream.finish();
    out
}

/// A stream being written.
pub(super) struct Stream<'a> {
    out: &'a mut Vec<u8>,
    crc: u32,
    length: usize,
    /// Where the header of the stored block is that is still open.
    open: Option<usize>,
}

impl<'a> Stream<'a> {
    pub(super) fn start(out: &'a mut Vec<u8>) -> Stream<'a> {
        out.extend_from_slice(&HEADER);
        Stream { out, crc: 0, length: 0, open: None }
    }

    pub(super) fn piece(&mut self, piece: &Piece) {
        self.close();
        self.out.extend_from_slice(&piece.bytes);
        self.crc = piece.shift.of(self.crc) ^ piece.crc;
        self.length += piece.length;
    }

    /// What is written goes in as it is; with what was stored just before it, if anything, in one block.
    pub(super) fn stored(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if self.open.is_none() {
            self.open = Some(self.out.len());
            self.out.extend_from_slice(&[0; 5]);
        }
        write(self.out);
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let start = open + 5;
        let length = self.out.len() - start;
        let mut hasher = crc32fast::Hasher::new_with_initial(self.crc);
        hasher.update(&self.out[start..]);
        self.crc = hasher.finalize();
        self.length += length;
        if length <= MAX_STORED {
            self.out[open..start].copy_from_slice(&stored_header(length));
            return;
        }
        // An address of more than 64 KiB; the gateway's limits let none through.
        let text = self.out.split_off(start);
        self.out.truncate(open);
        for part in text.chunks(MAX_STORED) {
            self.out.extend_from_slice(&stored_header(part.len()));
            self.out.extend_from_slice(part);
        }
    }

    pub(super) fn finish(mut self) {
        self.close();
        self.out.extend_from_slice(&LAST);
        self.out.extend_from_slice(&self.crc.to_le_bytes());
        self.out.extend_from_slice(&(self.length as u32).to_le_bytes());
    }
}

fn stored_header(length: usize) -> [u8; 5] {
    let [low, high] = (length as u16).to_le_bytes();
    [0, low, high, !low, !high]
}

/// The checksum's polynomial, lowest power in the highest bit.
const POLYNOMIAL: u32 = 0xedb8_8320;

/// The product of two polynomials, modulo [`POLYNOMIAL`].
fn multiply(a: u32, mut b: u32) -> u32 {
    let mut product = 0;
    for bit in (0..32).rev() {
        product ^= b & 0u32.wrapping_sub((a >> bit) & 1);
        b = (b >> 1) ^ (POLYNOMIAL & 0u32.wrapping_sub(b & 1));
    }
    product
}

/// x^n.
fn power(mut n: u64) -> u32 {
    let (mut result, mut square) = (1 << 31, 1 << 30);
    while n > 0 {
        if n & 1 == 1 {
            result = multiply(result, square);
        }
        square = multiply(square, square);
        n >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn inflated(bytes: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(bytes).read_to_end(&mut text).expect("a good stream");
        text
    }

    #[test]
    fn checksums_join() {
        let (a, b) = (b"the first part".as_slice(), b"and the second one".as_slice());
        let joined = Shift::by(b.len()).of(crc32fast::hash(a)) ^ crc32fast::hash(b);
        assert_eq!(joined, crc32fast::hash(&[a, b].concat()));
    }

    #[test]
    fn pieces_and_holes_make_a_stream() {
        let long = "a piece of text that repeats ".repeat(40);
        let piece = Piece::new(long.as_bytes()).expect("smaller");
        let big = "x".repeat(200_000);
        let mut out = Vec::new();
        let mut stream = Stream::start(&mut out);
        stream.stored(|out| out.extend_from_slice(b"1,523"));
        stream.stored(|out| out.extend_from_slice(b" people"));
        stream.piece(&piece);
        stream.piece(&piece);
        stream.stored(|out| out.extend_from_slice(big.as_bytes()));
        stream.piece(&piece);
        stream.finish();
        assert_eq!(inflated(&out), format!("1,523 people{long}{long}{big}{long}").as_bytes());
    }

    #[test]
    fn short_texts_are_stored() {
        assert!(Piece::new(b"").is_none());
        assert!(Piece::new(b"</p>").is_none());
        for text in ["", "</p>", &"abc".repeat(100_000)] {
            assert_eq!(inflated(&whole(text.as_bytes())), text.as_bytes());
        }
    }
}
