import { headerFieldIndex } from '@ratatosk/block'
import { countingOperators, endOfTurn, operatorInTurn } from '@ratatosk/contracts'
import { outputReferenceKey } from '@ratatosk/ledger'
import {
  type OpenQuestion,
  readQuestions,
  readRegistry,
  readStateQueue,
  takeOverAfterOf,
} from '@ratatosk/protocol'
import type {
  OpenQuestions,
  OperatorRegistry,
  OperatorsOptions,
  QuestionAnswer,
  Summoner,
} from '@ratatosk/state-queue/operators'
import { present } from '../context.js'
import type { Settlement } from '../layer1/settlement.js'
import type { Node } from '../node.js'
import { watches } from '../roles.js'
import { shared } from './metric-kinds.js'
import { operatorAccess } from './operator.js'

/** Questions that are decoded without a pause. */
const questionsAtOnce = 50
/** How long readers share when operators take over, in milliseconds. */
const freshMs = 500

/** Reads operators and questions from layer 1, and verdicts from the store of the watcher. */
export function operatorsOptions(node: Node): OperatorsOptions {
  const settlement = present(node.settlement, 'layer 1')
  const questions = questionsOf(settlement)
  const summoner = questions && summonerOf(node)
  return {
    ...operatorAccess(node.settings),
    registry: registryOf(settlement, node.clock),
    ...(questions && { questions }),
    ...((node.following || node.duties.serves.length > 0) && { verdicts: node.store.verdicts }),
    ...(summoner && { summoner }),
  }
}

/** Asks questions by the watcher of this process; undefined if it does not watch. */
function summonerOf({ settings, following }: Node): Summoner | undefined {
  if (!watches(settings) || following === undefined) return undefined
  return {
    async summon(wanted, signal) {
      const watcher = following.now()?.watcher
      if (watcher === undefined)
        return { kind: 'refused', reason: 'Not sent: another process of this store has the watcher' }
      return watcher.summon(wanted, signal)
    },
  }
}

/** Reads the operator registry, and computes the turns from this machine's time. */
export function registryOf(
  { reads, contracts }: Pick<Settlement, 'reads' | 'contracts'>,
  clock: () => number,
): OperatorRegistry {
  const { turnLength, releaseDelay, maxOperators, permissioned } = contracts.parameters

  // The queue may be long, and its readers many.
  const readTakeOver = shared(freshMs, async (): Promise<bigint | undefined> => {
    const utxos = await reads.utxosByPolicy(contracts.scripts.queue.policy)
    const { roots, blocks, fault } = readStateQueue(contracts, utxos)
    const endTime = blocks.at(-1)?.datum.header.endTime ?? roots[0]?.datum.state.endTime
    return endTime === undefined || fault ? undefined : endTime + takeOverAfterOf(contracts.parameters)
  })

  return {
    async read(signal) {
      const { unit } = contracts.scripts.registry
      const registry = readRegistry(contracts, await reads.utxosByUnit(unit, signal && { signal }))
      const now = BigInt(Math.floor(clock()))
      const turnEndsAt = endOfTurn(now, turnLength)
      const inTurnAt = (time: bigint) => registry && operatorInTurn(registry.datum, time, turnLength)?.vkey
      const [inTurn, next] = [inTurnAt(now), inTurnAt(turnEndsAt)]
      const isAnyCounting = registry && countingOperators(registry.datum, now, turnLength).length > 0
      const takeOverAt = isAnyCounting ? await readTakeOver() : undefined
      return {
        operators: (registry?.datum.operators ?? []).map(({ vkey, activeUntil, ...entry }) => ({
          ...entry,
          operatorKey: vkey,
          ...(activeUntil !== undefined && { activeUntil, releaseAt: activeUntil + releaseDelay }),
        })),
        ...(inTurn && { inTurn }),
        ...(next && { next }),
        turnEndsAt,
        ...(takeOverAt !== undefined && { takeOverAt }),
        turnLength,
        maxOperators: Number(maxOperators),
        permissioned,
      }
    },
  }
}

/** Reads the open questions; undefined if the contracts have no summons. */
export function questionsOf({
  reads,
  contracts,
}: Pick<Settlement, 'reads' | 'contracts'>): OpenQuestions | undefined {
  const { summons } = contracts
  if (summons === undefined) return undefined
  return {
    async *read() {
      const { addressText, policy } = summons
      // By address: a question that is asked again under its name must not hide behind others.
      const utxos = await reads.utxosAt(addressText, { policy })
      for (let start = 0; start < utxos.length; start += questionsAtOnce) {
        const piece = readQuestions(contracts, utxos.slice(start, start + questionsAtOnce))
        yield piece.flatMap((asked) => listed(asked) ?? [])
      }
    },
  }
}

/** Names of the roots about which the summons lets questions be asked, by the positions of their fields. */
const roots: ReadonlyMap<number, QuestionAnswer['root']> = new Map(
  (['utxosRoot', 'transactionsRoot', 'depositsRoot', 'withdrawalsRoot'] as const).map((name) => [
    headerFieldIndex[name],
    name,
  ]),
)

function listed({ utxo, question }: OpenQuestion): QuestionAnswer | undefined {
  const root = roots.get(question.root)
  if (root === undefined) return undefined
  const { headerHash, kind, key, deadline } = question
  return {
    question: outputReferenceKey(utxo.reference),
    headerHash,
    kind,
    root,
    key,
    deadline,
    bond: utxo.output.value.lovelace,
  }
}
