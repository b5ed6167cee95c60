import { readFile } from 'node:fs/promises'
import { SettingsError } from '../errors.js'

/**
 * Reads the JSON file that a setting names.
 *
 * @param setting the name for the error's sentence
 * @throws SettingsError where there is no such file, or no JSON in it
 */
export async function readJsonFile(setting: string, path: string | URL): Promise<unknown> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch {
    throw new SettingsError([`${setting} is "${path}": no file can be read there.`])
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new SettingsError([`${setting} is "${path}": the file is no JSON (${reason}).`])
  }
}
