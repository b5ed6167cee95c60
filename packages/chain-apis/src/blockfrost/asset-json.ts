import { fromHex } from '@ratatosk/cbor'
import { type AuxiliaryData, blake2b160, splitUnit } from '@ratatosk/ledger'
import { bech32 } from 'bech32'
import { encodeJson } from '../json.js'
import { createPause } from '../pause.js'
import type { ChainView } from '../view/chain-view.js'
import { BlockfrostError, notFound } from './errors.js'
import { type MetadatumJson, maxMetadataLength, metadataJson } from './metadata-json.js'

/** @throws {BlockfrostError} 400 if a text is not the unit of an asset: policy id and asset name in hex */
export function checkUnit(unit: string): void {
  if (!/^[0-9a-f]{56}([0-9a-f]{2}){0,32}$/.test(unit))
    throw new BlockfrostError(400, 'Invalid or malformed asset format.')
}

/** An asset, with its CIP-25 metadata from the last transaction that minted it: there is no registry. */
export async function assetJson(chain: ChainView, unit: string): Promise<string> {
  checkUnit(unit)
  const asset = await chain.asset(unit)
  if (asset === undefined) throw notFound()
  const { policy, name } = splitUnit(unit)
  const { metadata, standard } = tokenMetadata(await dataOf(chain, asset.last), policy, name)
  return encodeJson({
    asset: unit,
    policy_id: policy,
    asset_name: name === '' ? null : name,
    fingerprint: fingerprint(unit),
    quantity: String(asset.quantity),
    initial_mint_tx_hash: asset.first,
    mint_or_burn_count: asset.mints,
    onchain_metadata: metadata,
    onchain_metadata_standard: standard,
    onchain_metadata_extra: null,
    metadata: null,
  })
}

/** The most assets of an answer whose metadata are read: each costs several queries. */
const maxLookUps = 100

/**
 * A sum with Blockfrost's additions: whether an asset has CIP-25 metadata. It is `false` beyond 100 assets
 * and for metadata too large for JSON; without a registry, only ada has decimals.
 */
export async function extendedAmount(
  chain: ChainView,
  amount: readonly { readonly unit: string; readonly quantity: string }[],
) {
  const pause = createPause()
  const extended: object[] = []
  for (const [index, { unit, quantity }] of amount.entries()) {
    const isAda = unit === 'lovelace'
    extended.push({
      unit,
      quantity,
      decimals: isAda ? 6 : null,
      has_nft_onchain_metadata: !isAda && index <= maxLookUps && (await hasMetadata(chain, unit)),
    })
    await pause()
  }
  return extended
}

async function hasMetadata(chain: ChainView, unit: string): Promise<boolean> {
  const asset = await chain.asset(unit)
  if (asset === undefined) return false
  const { policy, name } = splitUnit(unit)
  const data = await dataOf(chain, asset.last)
  if (data === undefined || data.bytes.length > maxMetadataLength) return false
  return tokenMetadata(data, policy, name).metadata !== null
}

/** The name of an asset for people (CIP-14). */
export function fingerprint(unit: string): string {
  return bech32.encode('asset', bech32.toWords(blake2b160(fromHex(unit))))
}

async function dataOf(chain: ChainView, hash: string): Promise<AuxiliaryData | undefined> {
  return (await chain.transaction(hash))?.transaction.transaction.auxiliaryData
}

/** @throws {BlockfrostError} 400 if the data are too large for JSON */
function tokenMetadata(data: AuxiliaryData | undefined, policy: string, name: string) {
  const none = { metadata: null, standard: null }
  const tokens = metadataJson(data).find(({ label }) => label === '721')?.json
  if (tokens === undefined) return none
  // Version 1 has names as text, version 2 policies and names as bytes.
  const first = member(member(tokens, policy), Buffer.from(name, 'hex').toString())
  if (first !== undefined) return { metadata: first, standard: 'CIP25v1' }
  const second = member(member(tokens, `0x${policy}`), `0x${name}`)
  return second === undefined ? none : { metadata: second, standard: 'CIP25v2' }
}

function member(json: MetadatumJson | undefined, key: string): MetadatumJson | undefined {
  if (typeof json !== 'object' || Array.isArray(json)) return undefined
  return Object.entries(json).find(([name]) => name === key)?.[1]
}
