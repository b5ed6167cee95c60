/** Major types (RFC 8949, section 3.1). */
export const Major = {
  unsigned: 0,
  negative: 1,
  bytes: 2,
  text: 3,
  array: 4,
  map: 5,
  tag: 6,
  simple: 7,
} as const

/** As errors name them. */
export const majorNames = [
  'an unsigned integer',
  'a negative integer',
  'a byte string',
  'a text',
  'an array',
  'a map',
  'a tag',
  'a simple value or float',
] as const
