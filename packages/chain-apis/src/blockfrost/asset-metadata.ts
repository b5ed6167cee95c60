import { toHex } from '@ratatosk/cbor'
import { type AuxiliaryData, metadataLabels, splitUnit } from '@ratatosk/ledger'
import type { ChainView, MintedAsset } from '../view/chain-view.js'
import {
  maxMetadataLength,
  metadatumJson,
  plutusJson,
  rawEntries,
  rawFields,
  rawItems,
  rawString,
} from './data-json.js'

/** The metadata of an asset on the chain, as Blockfrost shows them. */
export interface AssetMetadata {
  readonly metadata: object | null
  /** Null also for metadata that break their standard. */
  readonly standard: string | null
  /** CBOR of the third field of a CIP-68 datum, in hex. */
  readonly extra: string | null
  readonly decimals: number | null
}

const none: AssetMetadata = { metadata: null, standard: null, extra: null, decimals: null }

/**
 * The metadata of an asset: those of its reference token (CIP-68) if it has one, otherwise those of the last
 * transaction that minted it with label 721 (CIP-25).
 *
 * @returns undefined if the data of that transaction are too large for JSON
 */
export async function assetMetadata(
  chain: ChainView,
  unit: string,
  { described }: Pick<MintedAsset, 'described'>,
): Promise<AssetMetadata | undefined> {
  const referenced = await referencedMetadata(chain, unit)
  if (referenced !== undefined || described === undefined) return referenced ?? none
  const minting = await chain.transaction(described)
  return mintedMetadata(minting?.transaction.transaction.auxiliaryData, unit)
}

/** CIP-25: policy → asset name → metadata, under label 721. */
function mintedMetadata(data: AuxiliaryData | undefined, unit: string): AssetMetadata | undefined {
  if (data === undefined) return none
  if (data.bytes.length > maxMetadataLength) return undefined
  const tokens = metadataLabels(data).find(({ label }) => label === 721n)?.cbor
  if (tokens === undefined) return none
  const { policy, name } = splitUnit(unit)
  const text = Buffer.from(name, 'hex').toString()
  const named = (...names: string[]) => {
    const under = memberOf(tokens, { text: policy })
    return names.map((each) => memberOf(under, { text: each })).find((found) => found !== undefined)
  }
  const version = versionOf(memberOf(tokens, { text: 'version' }))
  if (version === 1) return cip25(named(text, name), 'CIP25v1')
  if (version !== 2) return none
  const found = memberOf(memberOf(tokens, { bytes: policy }), { bytes: name })
  // Version 2 demands bytes, but many write text.
  return found === undefined ? cip25(named(text), null) : cip25(found, 'CIP25v2')
}

function cip25(cbor: Uint8Array | undefined, standard: string | null): AssetMetadata {
  const metadata = cbor && metadatumJson(cbor)
  if (typeof metadata !== 'object' || Array.isArray(metadata)) return none
  return { ...none, metadata, standard: followsCip25(metadata) ? standard : null }
}

/** The value of a map's key; undefined if it has none, or is no map. */
function memberOf(
  cbor: Uint8Array | undefined,
  wanted: { readonly text: string } | { readonly bytes: string },
): Uint8Array | undefined {
  const entries = (cbor && rawEntries(cbor)) ?? []
  const isWanted = (key: Uint8Array) => {
    const string = rawString(key)
    if (string === undefined) return false
    if ('text' in wanted) return 'text' in string && string.text === wanted.text
    return 'bytes' in string && string.bytes === wanted.bytes
  }
  return entries.findLast(([key]) => isWanted(key))?.[1]
}

/** Without a version, it is 1. */
function versionOf(cbor: Uint8Array | undefined): number {
  const json = cbor && metadatumJson(cbor)
  return json === undefined || json === 0n || json === '' ? 1 : Number(json)
}

type Standard = 'nft' | 'ft' | 'rft'

/** The labels of CIP-67 by which an asset name says that a reference token describes the asset. */
const standards: Readonly<Record<string, Standard>> = {
  '000de140': 'nft',
  '0014df10': 'ft',
  '001bc280': 'rft',
}
const referenceLabel = '000643b0'
/** The newest outputs of a reference token among which one with a datum is looked for. */
const maxReferenceOutputs = 10

/** CIP-68: the datum of the reference token; undefined if the asset has none that follows the standard. */
async function referencedMetadata(chain: ChainView, unit: string): Promise<AssetMetadata | undefined> {
  const { policy, name } = splitUnit(unit)
  const standard = standards[name.slice(0, 8)]
  if (standard === undefined) return undefined
  const data = await datumOf(chain, policy + referenceLabel + name.slice(8))
  const [map, version, extra] = (data && rawFields(data)) ?? []
  const entries = map && rawEntries(map)
  const number = version && numberOf(version)
  if (entries === undefined || number === undefined || number < 1 || number > 3) return undefined
  const metadata = Object.fromEntries(
    entries.map(([key, value]) => {
      const known = keyOf(key)
      return [known, fieldOf(standard, known, value) ?? toHex(value)]
    }),
  )
  if (!followsCip68(standard, metadata)) return undefined
  const decimals = standard !== 'nft' && typeof metadata.decimals === 'number' ? metadata.decimals : null
  return {
    metadata,
    standard: `CIP68v${number}`,
    extra: extra === undefined ? null : toHex(extra),
    decimals,
  }
}

async function datumOf(chain: ChainView, unit: string): Promise<Uint8Array | undefined> {
  const part = { offset: 0, limit: maxReferenceOutputs, order: 'newest-first' } as const
  for (const { output } of await chain.outputs({ unit }, part)) {
    const { datum } = output
    if (datum.kind === 'inline') return datum.data
    if (datum.kind !== 'hash') continue
    const hash = toHex(datum.hash)
    const found = (await chain.datums([hash])).get(hash)
    if (found !== undefined) return found
  }
  return undefined
}

/** A field that its standard names; undefined for other fields, and for values of another kind. */
function fieldOf(standard: Standard, name: string, value: Uint8Array): unknown {
  if (name === 'files' && standard !== 'ft') return filesOf(value)
  if (name === 'decimals') return standard === 'nft' ? undefined : numberOf(value)
  const texts =
    standard === 'ft'
      ? ['name', 'description', 'ticker', 'url', 'logo']
      : ['name', 'image', 'mediaType', 'description']
  return texts.includes(name) ? textOf(value) : undefined
}

function filesOf(cbor: Uint8Array): object[] | undefined {
  const files = rawItems(cbor)?.map((file) => {
    const members = rawEntries(file)?.map(([key, value]): [string, string | undefined] => {
      const name = keyOf(key)
      return [name, ['name', 'mediaType', 'src'].includes(name) ? textOf(value) : undefined]
    })
    return members?.every(([, value]) => value !== undefined) ? Object.fromEntries(members) : undefined
  })
  return files?.every((file) => file !== undefined) ? files : undefined
}

/** Bytes, or a list of them, as text; bytes that are no text in hex. */
function textOf(cbor: Uint8Array): string | undefined {
  const chunks = (rawItems(cbor) ?? [cbor]).map(rawString)
  let hex = ''
  for (const chunk of chunks) {
    if (chunk === undefined || !('bytes' in chunk)) return undefined
    hex += chunk.bytes
  }
  const bytes = Buffer.from(hex, 'hex')
  const text = bytes.toString()
  return Buffer.from(text).equals(bytes) ? text : hex
}

function numberOf(cbor: Uint8Array): number | undefined {
  const json = plutusJson(cbor)
  const value = 'int' in json ? Number(json.int) : Number.NaN
  return Number.isSafeInteger(value) ? value : undefined
}

function keyOf(cbor: Uint8Array): string {
  return textOf(cbor) ?? String(numberOf(cbor) ?? toHex(cbor))
}

function isText(json: unknown): boolean {
  return typeof json === 'string'
}

function isTexts(json: unknown): boolean {
  return isText(json) || (Array.isArray(json) && json.every(isText))
}

function isFiles(json: unknown): boolean {
  const isFile = (file: Record<string, unknown> | null) =>
    typeof file === 'object' &&
    file !== null &&
    isText(file.mediaType) &&
    isTexts(file.src) &&
    (file.name === undefined || isText(file.name))
  return Array.isArray(json) && json.every(isFile)
}

/** True if each member that is there is of its kind. */
function fits(metadata: object, kinds: Readonly<Record<string, (json: unknown) => boolean>>): boolean {
  const members = new Map<string, unknown>(Object.entries(metadata))
  return Object.entries(kinds).every(([name, isKind]) => !members.has(name) || isKind(members.get(name)))
}

function has(metadata: object, ...names: string[]): boolean {
  return names.every((name) => Object.hasOwn(metadata, name))
}

function followsCip25(metadata: object): boolean {
  const kinds = { name: isText, image: isTexts, description: isTexts, mediaType: isText, files: isFiles }
  return has(metadata, 'name', 'image') && fits(metadata, kinds)
}

function followsCip68(standard: Standard, metadata: object): boolean {
  const isNumber = (json: unknown) => typeof json === 'number'
  if (standard === 'ft') {
    const kinds = { name: isText, description: isText, logo: isText, ticker: isText, decimals: isNumber }
    return has(metadata, 'name', 'description') && fits(metadata, kinds)
  }
  const kinds = { name: isText, image: isText, description: isText, mediaType: isText, files: isFiles }
  const all = standard === 'rft' ? { ...kinds, decimals: isNumber } : kinds
  return has(metadata, 'name', 'image') && fits(metadata, all)
}
