import { judgeRules } from '../../test/judge-rules.js'
import { removeActive, removeRetired } from '../../test/queue/removals.js'
import { deinit as endQueue, init as startQueue } from '../../test/queue/scenarios.js'
import { registryBreaches } from '../../test/registry/breaches.js'
import {
  deinit,
  evict,
  init,
  registerFirst,
  registerSecond,
  release,
  retire,
} from '../../test/registry/scenarios.js'

judgeRules(
  'operator_registry',
  {
    init,
    deinit,
    registerFirst,
    registerSecond,
    retire,
    evict,
    release,
    startQueue,
    endQueue,
    removeActive,
    removeRetired,
  },
  registryBreaches,
)
