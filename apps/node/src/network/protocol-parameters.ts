import { type ProtocolParameters, parseProtocolParameters } from '@ratatosk/ledger'
import { SettingsError } from '../errors.js'
import type { NetworkName, Settings } from '../settings/schema.js'
import { readJsonFile } from './json-file.js'

/**
 * The networks whose parameters of ledger version 11 are known; those of the devnet are preprod's. Of mainnet
 * the cost model of Plutus V1 was not to be had, of preview none.
 */
const filesOfVersion11: { readonly [network in NetworkName]?: string } = {
  devnet: 'preprod-11',
  preprod: 'preprod-11',
}

/**
 * The protocol parameters of layer 2: those of PROTOCOL_PARAMETERS_FILE, or the network's own at
 * LEDGER_VERSION.
 *
 * @throws SettingsError if the file cannot be read, lacks a parameter, or is of another version
 */
export async function loadProtocolParameters(
  settings: Pick<Settings, 'NETWORK' | 'PROTOCOL_PARAMETERS_FILE' | 'LEDGER_VERSION'>,
): Promise<ProtocolParameters> {
  const { LEDGER_VERSION: version } = settings
  const path = settings.PROTOCOL_PARAMETERS_FILE ?? includedFile(settings)
  const parameters = parse(await readJsonFile('PROTOCOL_PARAMETERS_FILE', path), path)
  const { major } = parameters.ledgerVersion
  if (version === undefined || Number(version) === major) return parameters
  throw new SettingsError([
    `LEDGER_VERSION is ${version}, but PROTOCOL_PARAMETERS_FILE is "${path}", whose parameters are of ` +
      `ledger version ${major}: name a file of version ${version}, or set LEDGER_VERSION=${major}.`,
  ])
}

function includedFile({ NETWORK, LEDGER_VERSION }: Pick<Settings, 'NETWORK' | 'LEDGER_VERSION'>): URL {
  const name = LEDGER_VERSION === '11' ? filesOfVersion11[NETWORK] : NETWORK
  if (name !== undefined) return new URL(`../../parameters/${name}.json`, import.meta.url)
  throw new SettingsError([
    `LEDGER_VERSION is 11 on ${NETWORK}, whose parameters of this version the node does not include: ` +
      'name a file with them in PROTOCOL_PARAMETERS_FILE.',
  ])
}

function parse(json: unknown, path: string | URL): ProtocolParameters {
  try {
    return parseProtocolParameters(json)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new SettingsError([`PROTOCOL_PARAMETERS_FILE is "${path}": ${reason}.`])
  }
}
