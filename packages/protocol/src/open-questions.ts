import { createPauses } from '@ratatosk/block'
import { BytesMap, equalBytes, fromHex, toHex } from '@ratatosk/cbor'
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

/** Hex digits of the names of a question and a verdict. */
const [nameDigits, verdictDigits] = [64, 56]

/**
 * The questions among outputs, as `layer1.utxosAt(addressText, { policy })` returns them for the summons.
 * Verdicts, and outputs without a question's token, which anyone can leave at the address, are left out.
 */
export function readQuestions({ summons }: Contracts, utxos: readonly Utxo[]): readonly OpenQuestion[] {
  return summons === undefined ? [] : utxos.flatMap((utxo) => questionOf(summons, utxo) ?? [])
}

/** The questions and verdicts among outputs, and what holds a question's token and is not read as one. */
export interface QuestionSurvey {
  readonly questions: readonly OpenQuestion[]
  /** Outputs that hold a verdict, by header hash. */
  readonly verdicts: BytesMap<Utxo>
  /** No node answers these. Verdicts, which anyone may leave there, are not among them. */
  readonly unread: readonly Utxo[]
}

/**
 * Reads outputs as {@link readQuestions} does, with pauses: anyone can ask thousands.
 *
 * @param utxos as for {@link readQuestions}
 */
export async function surveyQuestions(
  { summons }: Contracts,
  utxos: readonly Utxo[],
): Promise<QuestionSurvey> {
  const questions: OpenQuestion[] = []
  const verdicts = new BytesMap<Utxo>()
  const unread: Utxo[] = []
  if (summons === undefined) return { questions, verdicts, unread }
  const pauseIfDue = createPauses()
  for (const utxo of utxos) {
    await pauseIfDue()
    const asked = questionOf(summons, utxo)
    if (asked !== undefined) questions.push(asked)
    for (const name of namesAt(summons, utxo))
      if (name.length === verdictDigits) verdicts.set(fromHex(name), utxo)
      else if (asked === undefined && name.length === nameDigits && unread.at(-1) !== utxo) unread.push(utxo)
  }
  return { questions, verdicts, unread }
}

/** Names of the tokens of an output at the script's address. */
const namesAt = ({ policy, address }: ScriptPlace, { output }: Utxo): readonly string[] =>
  equalBytes(output.address.bytes, address) ? [...(output.value.assets.get(policy)?.keys() ?? [])] : []

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

/** A line for logs and clients about {@link QuestionSurvey.unread} outputs; undefined if there are none. */
export function unreadLine(unread: readonly Utxo[]): string | undefined {
  const [first] = unread
  return (
    first &&
    `Layer 1 has questions that this program does not read, so it neither answers nor uses them: ` +
      `${unread.length}; the first is ${outputReferenceKey(first.reference)}. A newer version may read them`
  )
}
