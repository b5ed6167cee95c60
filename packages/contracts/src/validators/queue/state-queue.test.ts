import { mergeAndSettle } from '../../test/bridge/scenarios.js'
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
import { root, type World } from '../../test/world.js'

/** Commits a block by which outputs enter and leave layer 2. */
const commitEvents = (world: World) =>
  commitFirst(world, { ...firstHeader, depositsRoot: root(5), withdrawalsRoot: root(6) })
const deinitOneBlock = (world: World) => deinitBlocks(world, firstHeader)

judgeRules(
  'state_queue',
  {
    init,
    deinit,
    deinitOneBlock,
    commitFirst,
    commitSecond,
    commitEvents,
    takeOverFirst: (world) => takeOverFirst(world),
    takeOverSecond: (world) => takeOverSecond(world),
    merge: (world) => merge(world),
    mergeAndSettle,
    remove: (world) => remove(world),
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
