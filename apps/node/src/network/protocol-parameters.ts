import { type ProtocolParameters, parseProtocolParameters } from '@ratatosk/ledger'
import { SettingsError } from '../errors.js'
import type { Settings } from '../settings/schema.js'
import { readJsonFile } from './json-file.js'

/**
 * The protocol parameters of layer 2: those of PROTOCOL_PARAMETERS_FILE, or the network's own.
 *
 * @throws SettingsError if the file cannot be read or lacks a parameter
 */
export async function loadProtocolParameters(
  settings: Pick<Settings, 'NETWORK' | 'PROTOCOL_PARAMETERS_FILE'>,
): Promise<ProtocolParameters> {
  const path =
    settings.PROTOCOL_PARAMETERS_FILE ?? new URL(`../../parameters/${settings.NETWORK}.json`, import.meta.url)
  const json = await readJsonFile('PROTOCOL_PARAMETERS_FILE', path)
  try {
    return parseProtocolParameters(json)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new SettingsError([`PROTOCOL_PARAMETERS_FILE is "${path}": ${reason}.`])
  }
}
