import fc from 'fast-check'

/** Of any code points. The library's own for that takes a second and 90 MB to write them all down first. */
export function anyText(maxLength = 10): fc.Arbitrary<string> {
  const point = fc.oneof(fc.nat(0x7f), fc.nat(0xffff), fc.nat(0x10ffff))
  return fc.array(point, { maxLength }).map(points => String.fromCodePoint(...points).toWellFormed())
}
