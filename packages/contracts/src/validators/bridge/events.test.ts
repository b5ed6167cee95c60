import { eventBreaches } from '../../test/bridge/event-breaches.js'
import { bridgedTokens, deposit, eventToken, firstId, withWallet } from '../../test/bridge/scenarios.js'
import { judgeRules } from '../../test/judge-rules.js'
import { ada, type World, wallet } from '../../test/world.js'

/** Burns the token of a deposit that was paid out. */
const burn = (world: World) => {
  const token = eventToken(world, firstId)
  return {
    ...withWallet(deposit(world), [token]),
    outputs: [wallet(ada(99))],
    mint: [{ ...token, quantity: -1n }],
  }
}

judgeRules(
  'events',
  {
    deposit: (world) => deposit(world),
    depositOfAssets: (world) => deposit(world, { tokens: bridgedTokens(96) }),
    depositWithHash: (world) => deposit(world, { datum: { kind: 'hash', hash: new Uint8Array(32) } }),
    depositWithDatum: (world) =>
      deposit(world, { tokens: bridgedTokens(3), datum: { kind: 'inline', data: Uint8Array.of(0xa0) } }),
    burn,
  },
  eventBreaches,
)
