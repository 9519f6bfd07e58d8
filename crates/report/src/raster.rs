//! Pictures of pixels, and letters in them.
//!
//! A PNG is drawn from scratch, with a bitmap for each letter: a renderer of SVG would need fonts, which differ from
//! machine to machine, and weigh more than everything else here.

use font8x8::{BASIC_FONTS, GREEK_FONTS, LATIN_FONTS, UnicodeFonts};

/// Width and height of a letter at scale 1.
pub(crate) const LETTER: usize = 8;

/// Rows of pixels in red, green and blue.
#[derive(Debug, Clone)]
pub struct Raster {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Raster {
    /// All white.
    pub fn new(width: usize, height: usize) -> Self {
        Raster { width, height, pixels: vec![255; 3 * width * height] }
    }

    /// Width and height.
    pub fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// The colour of a pixel of the picture.
    pub fn pixel(&self, x: usize, y: usize) -> [u8; 3] {
        let at = 3 * (y * self.width + x);
        [self.pixels[at], self.pixels[at + 1], self.pixels[at + 2]]
    }

    /// A filled rectangle, as much of it as is in the picture.
    pub fn fill(&mut self, (x, y): (usize, usize), (width, height): (usize, usize), colour: [u8; 3]) {
        let right = (x + width).min(self.width);
        for row in y..(y + height).min(self.height) {
            for column in x..right {
                let at = 3 * (row * self.width + column);
                self.pixels[at..at + 3].copy_from_slice(&colour);
            }
        }
    }

    /// Letters of 8 x 8 pixels, times `scale`, from the upper left corner on. Those that the small font lacks become `?`.
    pub fn text(&mut self, (x, y): (usize, usize), text: &str, scale: usize, colour: [u8; 3]) {
        for (i, letter) in text.chars().enumerate() {
            for (column, row) in dots(letter) {
                let at = (x + (i * LETTER + column) * scale, y + row * scale);
                self.fill(at, (scale, scale), colour);
            }
        }
    }

    /// The same from the lower left corner upwards.
    pub fn text_upwards(&mut self, (x, y): (usize, usize), text: &str, scale: usize, colour: [u8; 3]) {
        for (i, letter) in text.chars().enumerate() {
            for (column, row) in dots(letter) {
                let down = (i * LETTER + column + 1) * scale;
                if down <= y {
                    self.fill((x + row * scale, y - down), (scale, scale), colour);
                }
            }
        }
    }

    /// As a PNG file.
    ///
    /// # Errors
    /// If the picture is empty, or larger than the format allows.
    pub fn to_png(&self) -> std::io::Result<Vec<u8>> {
        let mut bytes = vec![];
        let too_large = |_| std::io::Error::other("the picture is too large for a PNG file");
        let width = u32::try_from(self.width).map_err(too_large)?;
        let height = u32::try_from(self.height).map_err(too_large)?;
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.pixels)?;
        writer.finish()?;
        Ok(bytes)
    }
}

/// The dark dots of a letter: column and row.
fn dots(letter: char) -> Vec<(usize, usize)> {
    let found = BASIC_FONTS.get(letter).or_else(|| LATIN_FONTS.get(letter));
    let bits = found.or_else(|| GREEK_FONTS.get(letter)).or_else(|| BASIC_FONTS.get('?')).unwrap_or_default();
    let all = (0..LETTER).flat_map(|row| (0..LETTER).map(move |column| (column, row)));
    all.filter(|&(column, row)| bits[row] >> column & 1 == 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_drawn_upright_and_upwards() {
        let (mut upright, mut upwards) = (Raster::new(16, 8), Raster::new(8, 16));
        upright.text((0, 0), "L\u{e9}", 1, [0; 3]);
        upwards.text_upwards((0, 16), "L\u{e9}", 1, [0; 3]);
        let dark = |picture: &Raster| picture.pixels.iter().filter(|p| **p == 0).count();
        assert!(dark(&upright) > 50);
        for (column, row) in (0..16).flat_map(|c| (0..8).map(move |r| (c, r))) {
            assert_eq!(upright.pixel(column, row), upwards.pixel(row, 15 - column));
        }
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let mut picture = Raster::new(5, 3);
        picture.fill((4, 1), (9, 1), [1, 2, 3]);
        picture.text((4, 2), "outside", 3, [9; 3]);
        let png = picture.to_png().unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut pixels = vec![0; 45];
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!(pixels, picture.pixels);
        assert_eq!(picture.pixel(4, 1), [1, 2, 3]);
        assert!(Raster::new(0, 3).to_png().is_err());
    }
}
