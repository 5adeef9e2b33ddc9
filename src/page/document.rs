//! A document with holes: what is the same for everybody, ready to be copied, and where the rest goes.
//!
//! Owns the split of a text at its holes and the two ways of putting it together again. Knows nothing of
//! what the text means.

use super::gzip::{Piece, Stream};
use super::hole::{Hole, Values};
use super::words::Words;

#[derive(Debug)]
pub(super) struct Document {
    parts: Box<[Part]>,
    /// What the parts come to without the holes, plain and packed.
    length: usize,
    packed: usize,
}

#[derive(Debug)]
enum Part {
    Text { plain: Box<[u8]>, packed: Option<Piece> },
    Hole(Hole),
}

/// Room for what is written into the holes, so that the buffer rarely grows twice.
const HOLES: usize = 512;

impl Document {
    /// Splits a text at its holes, each marked by its own character.
    pub(super) fn new(marked: &str) -> Document {
        let (mut parts, mut start) = (Vec::new(), 0);
        let add = |parts: &mut Vec<Part>, text: &str| {
            if !text.is_empty() {
                let packed = Piece::new(text.as_bytes());
                parts.push(Part::Text { plain: text.as_bytes().into(), packed });
            }
        };
        for (at, mark) in marked.char_indices() {
            let Some(hole) = Hole::of(mark) else { continue };
            add(&mut parts, &marked[start..at]);
            parts.push(Part::Hole(hole));
            start = at + mark.len_utf8();
        }
        add(&mut parts, &marked[start..]);
        let (mut length, mut packed) = (0, 0);
        for part in &parts {
            if let Part::Text { plain, packed: piece } = part {
                length += plain.len();
                packed += piece.as_ref().map_or(plain.len(), Piece::packed);
            }
        }
        Document { parts: parts.into(), length, packed }
    }

    pub(super) fn render(&self, values: &Values<'_>, words: &Words, gzip: bool, out: &mut Vec<u8>) {
        if !gzip {
            out.reserve(self.length + HOLES);
            for part in &self.parts {
                match part {
                    Part::Text { plain, .. } => out.extend_from_slice(plain),
                    Part::Hole(hole) => values.write(*hole, words, out),
                }
            }
            return;
        }
        out.reserve(self.packed + HOLES);
        let mut stream = Stream::start(out);
        for part in &self.parts {
            match part {
                Part::Text { packed: Some(piece), .. } => stream.piece(piece),
                Part::Text { plain, .. } => stream.stored(|out| out.extend_from_slice(plain)),
                Part::Hole(hole) => stream.stored(|out| values.write(*hole, words, out)),
            }
        }
        stream.finish();
    }
}
