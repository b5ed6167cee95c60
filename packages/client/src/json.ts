/** Levels of JSON: a parser needs much memory for each. */
const maxDepth = 100

/**
 * Parses JSON of at most 100 levels.
 *
 * @throws SyntaxError
 * @example
 * import { readFile } from 'node:fs/promises'
 * parseJson(await readFile('answer.json', 'utf8'))
 */
export function parseJson(text: string): unknown {
  let depth = 0
  let isText = false
  for (let position = 0; position < text.length; position++) {
    const character = text[position]
    if (character === '"') isText = !isText
    else if (isText) {
      if (character === '\\') position++
    } else if (character === '[' || character === '{') {
      if (++depth > maxDepth) throw new SyntaxError(`more than ${maxDepth} levels`)
    } else if (character === ']' || character === '}') depth--
  }
  return JSON.parse(text)
}
