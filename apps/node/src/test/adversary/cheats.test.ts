import { expect, test } from 'vitest'
import { openCheats } from './cheats.js'

test('attempts to append a block that fail are told, each reason once', async () => {
  const reasons = ['away', 'away', 'full', 'away']
  const told: string[] = []
  const beside = {
    contracts: { parameters: {} },
    walletOf: () => undefined,
    readQueue: async () => ({ blocks: reasons.length > 0 ? [] : [{}] }),
    port: {
      slots: async () => {
        throw new Error(reasons.shift())
      },
    },
  } as never
  const append = openCheats(beside, [5]).append(
    {} as never,
    () => undefined,
    (reason) => told.push(reason),
  )
  await append
  expect(told).toEqual(['Error: away', 'Error: full', 'Error: away'])
})
