import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { CommandError } from '../frame/errors.js'

/** Ids of a file, one a line. @throws CommandError */
export async function* acceptedIn(file: string): AsyncGenerator<string, void> {
  let line = 0
  try {
    const input = createReadStream(file, 'utf8')
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      line++
      if (text.trim() === '') continue
      if (!/^[0-9a-f]{64}$/i.test(text.trim()))
        throw new CommandError('CLI_FILE', `Line ${line} of "${file}" is no transaction id of 64 hex digits.`)
      yield text.trim()
    }
  } catch (error) {
    if (!(error instanceof Error && 'errno' in error)) throw error
    throw new CommandError('CLI_FILE', `The file "${file}" cannot be read: ${error.message}`)
  }
}
