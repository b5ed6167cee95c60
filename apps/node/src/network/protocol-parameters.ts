import { type ProtocolParameters, parseProtocolParameters } from '@ratatosk/ledger'
import { SettingsError } from '../errors.js'
import { fileLimits } from '../settings/regular-file.js'
import type { NetworkName, Settings } from '../settings/schema.js'
import { readJsonFile } from './network.js'

/** The included parameters by ledger version. All networks have the cost models of preprod at version 11. */
const includedFiles: Readonly<Record<NetworkName, ReadonlyMap<number, string>>> = {
  devnet: new Map([
    [10, 'devnet'],
    [11, 'preprod-11'],
  ]),
  preprod: new Map([
    [10, 'preprod'],
    [11, 'preprod-11'],
  ]),
  preview: new Map([
    [10, 'preview'],
    [11, 'preprod-11'],
  ]),
  mainnet: new Map([
    [10, 'mainnet'],
    [11, 'preprod-11'],
  ]),
}

/** The ledger versions whose parameters are included for a network. */
export const includedVersions = (network: NetworkName): readonly number[] => [
  ...includedFiles[network].keys(),
]

/**
 * Layer 2's protocol parameters: PROTOCOL_PARAMETERS_FILE, or the network's at the ledger version with which
 * the deployment `began`.
 * @throws SettingsError if the file cannot be read, lacks a parameter, or is of another version
 */
export async function loadProtocolParameters(
  settings: Pick<Settings, 'NETWORK' | 'PROTOCOL_PARAMETERS_FILE' | 'LEDGER_VERSION'>,
  began?: number,
): Promise<ProtocolParameters> {
  const { LEDGER_VERSION: version } = settings
  const path = settings.PROTOCOL_PARAMETERS_FILE ?? includedFile(settings, began)
  const json = await readJsonFile('PROTOCOL_PARAMETERS_FILE', path, fileLimits.parameters)
  const parameters = parse(json, path)
  const { major } = parameters.ledgerVersion
  if (version === undefined || Number(version) === major) return parameters
  throw new SettingsError([
    `LEDGER_VERSION is ${version}, but PROTOCOL_PARAMETERS_FILE is "${path}", whose parameters are of ` +
      `ledger version ${major}: name a file of version ${version}, or set LEDGER_VERSION=${major}.`,
  ])
}

function includedFile(
  { NETWORK, LEDGER_VERSION }: Pick<Settings, 'NETWORK' | 'LEDGER_VERSION'>,
  began: number | undefined,
): URL {
  const files = includedFiles[NETWORK]
  const version = began ?? Number(LEDGER_VERSION ?? Math.max(...files.keys()))
  const name = files.get(version)
  if (name !== undefined) return new URL(`../../parameters/${name}.json`, import.meta.url)
  throw new SettingsError([
    `The ledger version is ${version} on ${NETWORK}, whose parameters of this version the node does not ` +
      'include: name a file with them in PROTOCOL_PARAMETERS_FILE.',
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
