import { bridgeBreaches } from '../../test/bridge/breaches.js'
import {
  mergeAndSettle,
  payAssets,
  payFromDeposits,
  payLast,
  payOne,
  tidy,
  tidyBoth,
  tidyReserves,
} from '../../test/bridge/scenarios.js'
import { payAndKeepTokens, payAndSplit, payMore } from '../../test/bridge/treasury-breaches.js'
import { judgeRules } from '../../test/judge-rules.js'

judgeRules(
  'bridge',
  {
    mergeAndSettle,
    payOne,
    payLast,
    payAssets,
    payFromDeposits,
    payAndKeepTokens,
    payAndSplit,
    payMore,
    tidy: (world) => tidy(world),
    tidyReserves: (world) => tidyReserves(world),
    tidyBoth,
  },
  bridgeBreaches,
)
