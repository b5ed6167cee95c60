import { publicDefaults } from '../apps/node/dist/settings/read.js'
import { measureFees } from '../packages/follower/dist/watcher/test/silence/money.js'
import { moneyTables } from '../packages/follower/dist/watcher/test/silence/stories.js'
import { summonsTerms } from '../packages/protocol/dist/index.js'

/** The gains of each side of a summons, by the measured costs and the default settings. */
export async function summonsMoney() {
  const bond = BigInt(publicDefaults.OPERATOR_BOND)
  const penalty = BigInt(publicDefaults.SLASH_PENALTY)
  const window = 7n * 24n * 3_600_000n
  return moneyTables(await measureFees(), { ...summonsTerms(window), bond, penalty })
}
