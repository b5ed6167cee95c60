import { setTimeout as sleep } from 'node:timers/promises'
import { type Layer1, Layer1Error } from '@ratatosk/layer1'
import { generator, pick, type Random } from '@ratatosk/test-kit'

/** A layer 1 whose answers come late, as they were when it was asked or later, and which may lose commits. */
export interface UncertainLayer1 extends Layer1 {
  /** Draws how late answers come, and what happens to transactions that are sent. */
  begin(seed: number): void
  /** Holds answers back until {@link UncertainLayer1.see}. */
  blind(): void
  see(): void
  /** Answers at once from now on. */
  calm(): void
}

const reads = ['utxosAt', 'utxosByUnit', 'utxosByPolicy', 'utxosByReferences', 'spending', 'tip'] as const

/** Milliseconds that answers are late at most. */
const latencies = [0, 0, 2, 8, 25]

export function uncertainLayer1(layer1: Layer1): UncertainLayer1 {
  let random: Random = generator(0)
  let latency = 0
  /** How often a transaction that is sent arrives late, or never, and the sender hears nothing. */
  let loss = 0
  let gate = Promise.resolve()
  let open: (() => void) | undefined
  function see(): void {
    open?.()
    open = undefined
  }
  const late = () => (latency === 0 ? undefined : sleep(random() * latency))

  async function submit(...asked: Parameters<Layer1['submit']>): ReturnType<Layer1['submit']> {
    await gate
    await late()
    if (random() >= loss) return layer1.submit(...asked)
    const [cbor] = asked
    // Layer 1 may refuse it then, which its sender does not hear.
    if (random() < 0.5) void sleep(random() * 120).then(() => layer1.submit(cbor).catch(() => undefined))
    throw new Layer1Error('LAYER1_TIMEOUT', 'The answer was lost', { mayHaveEffect: true })
  }

  return {
    ...layer1,
    ...Object.fromEntries(
      reads.map((name) => [
        name,
        async (...asked: unknown[]) => {
          await late()
          const answer = await (layer1[name] as (...given: unknown[]) => Promise<unknown>)(...asked)
          await gate
          await late()
          return answer
        },
      ]),
    ),
    submit,
    begin(seed) {
      random = generator(seed)
      latency = pick(random, latencies)
      loss = pick(random, [0, 0, 0.2, 0.5])
    },
    blind() {
      if (open !== undefined) return
      gate = new Promise((resolve) => {
        open = resolve
      })
    },
    see,
    calm() {
      latency = 0
      loss = 0
      see()
    },
  }
}
