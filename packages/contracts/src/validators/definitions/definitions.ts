import { fraudProofDefinitions } from './fraud-proofs.js'
import { queueDefinitions } from './queue.js'
import { registryDefinitions } from './registry.js'
import { summonsDefinitions } from './summons.js'

export const definitions = {
  ...queueDefinitions,
  ...fraudProofDefinitions,
  ...registryDefinitions,
  ...summonsDefinitions,
}
