import type { Layer1, Layer1ErrorCode } from '@ratatosk/layer1'

/** How calls of a layer 1 ended, since the start. */
export interface Layer1Calls {
  readonly method: string
  readonly outcome: string
  readonly count: number
}

const methods = [
  ...([
    'utxosAt',
    'utxosByUnit',
    'utxosByPolicy',
    'utxosByReferences',
    'spending',
    'parameters',
    'tip',
    'slots',
  ] as const),
  ...(['currentSlot', 'submit', 'status', 'await', 'evaluate'] as const),
]

const codes: readonly Layer1ErrorCode[] = [
  ...(['LAYER1_TIMEOUT', 'LAYER1_RATE_LIMITED', 'LAYER1_UNREACHABLE', 'LAYER1_PROVIDER_ERROR'] as const),
  ...(['LAYER1_INVALID_ANSWER', 'LAYER1_UNAUTHORIZED', 'LAYER1_WRONG_NETWORK'] as const),
  ...(['LAYER1_REJECTED', 'LAYER1_ROLLED_BACK'] as const),
]
/** `aborted`: the caller ended the call, or a defect did. */
const outcomes = ['ok', ...codes.map(outcomeOf), 'aborted']

/** The same layer 1, with a count of how its calls end. */
export function countCalls(layer1: Layer1): { layer1: Layer1; calls: () => readonly Layer1Calls[] } {
  const counts = new Map<string, Map<string, number>>()
  const counted = methods.map((method) => {
    const of = new Map(outcomes.map((outcome) => [outcome, 0]))
    counts.set(method, of)
    const count = (outcome: string) => of.set(outcome, (of.get(outcome) ?? 0) + 1)
    const call = layer1[method].bind(layer1) as (...given: unknown[]) => Promise<unknown>
    const counting = async (...given: unknown[]) => {
      try {
        const answer = await call(...given)
        count('ok')
        return answer
      } catch (error) {
        const code = codes.find((each) => error instanceof Error && 'code' in error && error.code === each)
        count(code === undefined ? 'aborted' : outcomeOf(code))
        throw error
      }
    }
    return [method, counting]
  })
  return {
    layer1: { name: layer1.name, networkId: layer1.networkId, ...Object.fromEntries(counted) },
    calls: () =>
      [...counts].flatMap(([method, of]) => [...of].map(([outcome, count]) => ({ method, outcome, count }))),
  }
}

function outcomeOf(code: Layer1ErrorCode): string {
  return code.slice('LAYER1_'.length).toLowerCase()
}
