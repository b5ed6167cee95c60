import { readRegularFile } from '@ratatosk/node/regular-file'
import { CommandError } from './errors.js'

/**
 * The text of a file that an option or a setting names.
 *
 * @param name of the option or the setting
 * @param mostBytes of the file
 * @throws CommandError with the code if it cannot be read
 */
export function fileText(file: string, name: string, code: string, mostBytes: number): string {
  try {
    return readRegularFile(file, mostBytes)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandError(code, `"${file}" for ${name}: ${reason}.`)
  }
}
