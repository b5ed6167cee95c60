// Strangers write what a node quotes: a terminal must not obey it.

/** Text with control and format characters escaped, line ends included: it cannot affect other text. */
export const visible = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped)

/** Indented JSON in which the same characters are escaped. Its line ends are between values. */
export const visibleJson = (value: unknown, indent = 2): string =>
  JSON.stringify(value, undefined, indent).replace(/[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/gu, escaped)

/** In units of 16 bits, as JSON escapes them. */
const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`,
  ).join('')

/** @example counted(1, 'payment') // '1 payment' */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Lovelace as ada, such as `9,899.831859 ada`. */
export function ada(lovelace: bigint | string): string {
  const amount = BigInt(lovelace)
  const fraction = String(amount % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '')
  return `${(amount / 1_000_000n).toLocaleString('en-US')}${fraction === '' ? '' : `.${fraction}`} ada`
}
