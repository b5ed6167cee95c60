import { equalBytes, toHex } from '@ratatosk/cbor'
import { decodeQuestion, encodeQuestion, type SummonsQuestion } from '@ratatosk/contracts'
import { blake2b256, outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import { PlutusDataError } from '@ratatosk/ledger/plutus-data'
import type { Contracts, ScriptPlace } from './contracts.js'

/** A question that waits for its answer. */
export interface OpenQuestion {
  readonly utxo: Utxo
  /** Name of its token: 64 hex digits. */
  readonly name: string
  readonly question: SummonsQuestion
}

/** Hex digits of a question's name; that of a verdict has 56. */
const nameDigits = 64

/**
 * The questions among outputs, as `layer1.utxosAt(addressText, { policy })` returns them for the summons.
 * Verdicts, and outputs without a question's token, which anyone can leave at the address, are left out.
 */
export function readQuestions({ summons }: Contracts, utxos: readonly Utxo[]): readonly OpenQuestion[] {
  return summons === undefined ? [] : utxos.flatMap((utxo) => questionOf(summons, utxo) ?? [])
}

/**
 * The outputs at the address of the summons that hold a token of a question and are not read as one, so
 * that no node answers them. Verdicts, which anyone may leave there, are not among them.
 *
 * @param utxos as for {@link readQuestions}
 */
export function unreadQuestions({ summons }: Contracts, utxos: readonly Utxo[]): readonly Utxo[] {
  if (summons === undefined) return []
  const { policy, address } = summons
  return utxos.filter((utxo) => {
    const names = [...(utxo.output.value.assets.get(policy)?.keys() ?? [])]
    return (
      equalBytes(utxo.output.address.bytes, address) &&
      names.some(({ length }) => length === nameDigits) &&
      questionOf(summons, utxo) === undefined
    )
  })
}

/** The summons names a question by the bytes of `serialiseData`, in whatever encoding its datum is. */
function questionOf({ policy, address }: ScriptPlace, utxo: Utxo): OpenQuestion | undefined {
  const { datum, value, address: at } = utxo.output
  if (datum.kind !== 'inline' || !equalBytes(at.bytes, address)) return undefined
  const names = value.assets.get(policy)
  if (names === undefined) return undefined
  try {
    const question = decodeQuestion(datum.data)
    const name = toHex(blake2b256(encodeQuestion(question)))
    return names.has(name) ? { utxo, name, question } : undefined
  } catch (error) {
    if (error instanceof PlutusDataError) return undefined
    throw error
  }
}

/** A line for logs and clients about the {@link unreadQuestions}; undefined if there are none. */
export function unreadLine(unread: readonly Utxo[]): string | undefined {
  const [first] = unread
  return (
    first &&
    `Layer 1 has questions that this program does not read, so it neither answers nor uses them: ` +
      `${unread.length}; the first is ${outputReferenceKey(first.reference)}. A newer version may read them`
  )
}
