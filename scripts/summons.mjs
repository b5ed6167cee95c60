import { contractSettings } from '../apps/node/dist/settings/rollup-settings.js'
import { measureFees } from '../packages/follower/dist/watcher/test/silence/money.js'
import { moneyTables } from '../packages/follower/dist/watcher/test/silence/tables.js'
import { summonsTerms } from '../packages/protocol/dist/index.js'

/** The gains of each side of a summons, by the measured costs and the default settings. */
export async function summonsMoney() {
  const bond = BigInt(contractSettings.OPERATOR_BOND.default)
  const chosen = BigInt(contractSettings.SLASH_PENALTY.default ?? 0)
  // The least off the devnet.
  const penalty = chosen > bond / 10n ? chosen : bond / 10n
  const window = 7n * 24n * 3_600_000n
  return moneyTables(await measureFees(), { bond, penalty, reward: summonsTerms(window).reward })
}
