import { judgeRules } from '../../test/judge-rules.js'
import { queueBreaches } from '../../test/queue/breaches.js'
import {
  prune,
  pruneBehindBlock,
  removeActive,
  removeAlreadySlashed,
  removeByHeldVerdict,
  removeRetired,
} from '../../test/queue/removals.js'
import {
  commitFirst,
  commitSecond,
  deinit,
  deinitBlocks,
  firstHeader,
  init,
  merge,
  remove,
  removeLast,
  takeOverFirst,
  takeOverSecond,
} from '../../test/queue/scenarios.js'
import type { World } from '../../test/world.js'

const deinitOneBlock = (world: World) => deinitBlocks(world, firstHeader)

judgeRules(
  'state_queue',
  {
    init,
    deinit,
    deinitOneBlock,
    commitFirst,
    commitSecond,
    takeOverFirst: (world) => takeOverFirst(world),
    takeOverSecond: (world) => takeOverSecond(world),
    merge,
    remove,
    removeLast,
    removeActive,
    removeRetired,
    removeAlreadySlashed,
    removeByHeldVerdict,
    prune,
    pruneBehindBlock,
  },
  queueBreaches,
)
