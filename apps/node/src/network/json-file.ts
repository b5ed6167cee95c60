import { parseJson } from '@ratatosk/client/json'
import { SettingsError } from '../errors.js'
import { readRegularFile } from '../settings/regular-file.js'

/** Reads the JSON file of a setting. @throws SettingsError if unreadable, too large or not JSON */
export async function readJsonFile(setting: string, path: string | URL, maxBytes: number): Promise<unknown> {
  const failed = (reason: string) => new SettingsError([`${setting} is "${path}": ${reason}.`])
  let text: string
  try {
    text = readRegularFile(path, maxBytes)
  } catch (error) {
    throw failed(reasonOf(error))
  }
  try {
    return parseJson(text)
  } catch (error) {
    throw failed(`the file is not JSON (${reasonOf(error)})`)
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
