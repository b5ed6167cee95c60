import querystring from 'node:querystring'

/** The parameters of a query in their order. A name without `=` is a flag, whose value is undefined. */
export type Parameters = readonly (readonly [name: string, value: string | undefined])[]

/** Reads the query of a URL as Kupo's server does: `&` and `;` separate, and `+` is a space. */
export function readParameters(url: string): Parameters {
  const start = url.indexOf('?')
  if (start < 0 || start === url.length - 1) return []
  return url
    .slice(start + 1)
    .split(/[&;]/)
    .map((pair) => {
      const equals = pair.indexOf('=')
      if (equals < 0) return [decode(pair), undefined]
      return [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))]
    })
}

const decode = (text: string) => querystring.unescape(text.replaceAll('+', ' '))

/**
 * The known name that a parameter misspells: in another case or punctuation, or with up to two wrong letters.
 * Kupo ignores what it does not know, and would answer such a request without its filter.
 */
export function misspelled(name: string, known: readonly string[]): string | undefined {
  if (known.includes(name)) return undefined
  const plain = plainOf(name)
  return known.find((each) => {
    const target = plainOf(each)
    return Math.abs(target.length - plain.length) <= mostWrong && distance(plain, target) <= mostWrong
  })
}

const mostWrong = 2
const plainOf = (name: string) => name.toLowerCase().replaceAll(/[^a-z]/g, '')

/** How many letters must be added, removed or changed (Levenshtein). */
function distance(from: string, to: string): number {
  let last = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (const [row, letter] of [...from].entries()) {
    let left = row + 1
    last = last.map((above, at) => {
      if (at > 0) left = Math.min(above + 1, left + 1, (last[at - 1] ?? 0) + (letter === to[at - 1] ? 0 : 1))
      return left
    })
  }
  return last.at(-1) ?? 0
}
