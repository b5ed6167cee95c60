import { fraudProofDefinitions } from './fraud-proofs.js'
import { queueDefinitions } from './queue.js'
import { registryDefinitions } from './registry.js'
import { summonsDefinitions } from './summons.js'

/** The definitions of the blueprint, in its order. */
export const definitions = {
  ...queueDefinitions,
  ...fraudProofDefinitions,
  ...registryDefinitions,
  ...summonsDefinitions,
}
