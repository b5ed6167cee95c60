import { fromHex } from '@ratatosk/cbor'
import { addressText, readAddressText } from '@ratatosk/chain-apis'
import { type Address, isAddressError, outputReferenceKey } from '@ratatosk/ledger'
import type { ExplorerOptions } from './options.js'
import { outputId } from './parameters.js'
import type { Kind, SearchAnswer } from './schemas/transaction.js'

type Match = SearchAnswer['matches'][number]

/** Something that a text can name. */
interface Candidate {
  readonly kind: Kind
  readonly id: string
  readonly path: string
  readonly isHere: () => Promise<boolean>
}

type Sources = Pick<ExplorerOptions, 'reads' | 'ledger' | 'index' | 'knowsSubmission'>

/** Finds what a text names; asks only what has the form of it. */
export async function search(sources: Sources, text: string): Promise<SearchAnswer> {
  const candidates = candidatesOf(sources, text)
  const here = await Promise.all(candidates.map(({ isHere }) => isHere()))
  return {
    matches: candidates.flatMap(({ kind, id, path }, position): Match[] =>
      here[position] ? [{ kind, id, path }] : [],
    ),
    couldBe: candidates.map(({ kind }) => kind),
  }
}

const blockfrost = '/l2/blockfrost/api/v0'

function candidatesOf({ reads, ledger, index, knowsSubmission }: Sources, text: string): Candidate[] {
  const found: Candidate[] = []
  const add = (kind: Kind, id: string, path: string, isHere: Candidate['isHere']) =>
    found.push({ kind, id, path, isHere })
  const lower = text.toLowerCase()
  const isHex = /^([0-9a-f]{2})+$/.test(lower)

  if (/^[0-9]{1,15}$/.test(text)) {
    const height = String(Number(text))
    add(
      'block',
      height,
      `/explorer/block/${height}`,
      async () => (await reads.block(BigInt(height))) !== undefined,
    )
  }
  if (isHex && lower.length === 64) {
    add('transaction', lower, `/explorer/tx/${lower}`, async () => {
      return (await ledger.placeOf(fromHex(lower))) !== undefined
    })
  }
  if (isHex && lower.length === 56) {
    add(
      'block',
      lower,
      `/explorer/block/${lower}`,
      async () => (await reads.block(fromHex(lower))) !== undefined,
    )
    if (index)
      add('policy', lower, `${blockfrost}/assets/policy/${lower}`, async () => {
        return (await index.assets(fromHex(lower), { offset: 0, limit: 1 })).length > 0
      })
  }
  if (index && isHex && lower.length >= 56 && lower.length <= 120) {
    const [policy, name] = [fromHex(lower.slice(0, 56)), fromHex(lower.slice(56))]
    add(
      'asset',
      lower,
      `${blockfrost}/assets/${lower}`,
      async () => (await index.asset(policy, name)) !== undefined,
    )
  }
  const reference = outputId(text)
  if (index && reference) {
    const id = outputReferenceKey(reference)
    add('output', id, `/explorer/output/${encodeURIComponent(id)}`, async () => {
      return (await index.outputs({ references: [reference] }, { offset: 0, limit: 1 })).length > 0
    })
  }
  const address = addressOf(text)
  if (index && address) {
    const id = addressText(address)
    add('address', id, `${blockfrost}/addresses/${id}`, () => index.knowsAddress(address.bytes))
  }
  if (found.length === 0 && knowsSubmission)
    add('submission', text, `/submission?id=${encodeURIComponent(text)}`, () => knowsSubmission(text))
  return found
}

function addressOf(text: string): Address | undefined {
  try {
    return readAddressText(text)
  } catch (error) {
    if (isAddressError(error)) return undefined
    throw error
  }
}
