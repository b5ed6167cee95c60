import { readFile } from 'node:fs/promises'
import { SettingsError } from '../errors.js'

/**
 * Reads the JSON file that a setting names.
 *
 * @param setting the setting's name, for the error message
 * @throws SettingsError if the file cannot be read or is not JSON
 */
export async function readJsonFile(setting: string, path: string | URL): Promise<unknown> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch {
    throw new SettingsError([`${setting} is "${path}": the file cannot be read.`])
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new SettingsError([`${setting} is "${path}": the file is not JSON (${reason}).`])
  }
}
