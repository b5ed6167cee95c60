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

/** Finds what a text names, hexadecimal digits in lower case; asks only what has the form of it. */
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
  const isHex = /^([0-9a-f]{2})+$/.test(text)

  if (/^[0-9]{1,15}$/.test(text)) {
    add('block', text, `/explorer/block/${text}`, async () => (await reads.block(BigInt(text))) !== undefined)
  }
  if (isHex && text.length === 64) {
    add('transaction', text, `/explorer/tx/${text}`, async () => {
      return (await ledger.placeOf(fromHex(text))) !== undefined
    })
  }
  if (isHex && text.length === 56) {
    add(
      'block',
      text,
      `/explorer/block/${text}`,
      async () => (await reads.block(fromHex(text))) !== undefined,
    )
    if (index)
      add('policy', text, `${blockfrost}/assets/policy/${text}`, async () => {
        return (await index.assets(fromHex(text), { offset: 0, limit: 1 })).length > 0
      })
  }
  if (index && isHex && text.length >= 56 && text.length <= 120) {
    const [policy, name] = [fromHex(text.slice(0, 56)), fromHex(text.slice(56))]
    add(
      'asset',
      text,
      `${blockfrost}/assets/${text}`,
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
