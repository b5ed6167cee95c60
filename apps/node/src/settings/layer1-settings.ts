import { Type } from '@sinclair/typebox'
import { oneOf, optional, optionalNumber } from './kinds.js'
import { seedPhrase } from './seed-phrase.js'

export const layer1Providers = ['devnet', 'blockfrost', 'kupmios'] as const

/** How layer 1 is reached, and whose keys speak to it. */
export const layer1Settings = {
  LAYER1_PROVIDER: oneOf(layer1Providers, {
    default: 'devnet',
    description: 'What reaches layer 1; `devnet` is a layer 1 of its own, which settles nothing',
  }),
  BLOCKFROST_URL: optional({
    pattern: '^https?://[^\\s]+$',
    allowed: 'an address such as https://cardano-preprod.blockfrost.io/api/v0',
    description: 'Of the provider `blockfrost`, or of a server that speaks its API',
  }),
  BLOCKFROST_PROJECT_ID: optional({ secret: true, description: "The provider's key" }),
  KUPO_URL: optional({
    pattern: '^https?://[^\\s]+$',
    allowed: 'an address such as http://127.0.0.1:1442',
    description: 'Of the provider `kupmios`',
  }),
  OGMIOS_URL: optional({
    pattern: '^https?://[^\\s]+$',
    allowed: 'an address such as http://127.0.0.1:1337',
    description: 'Of the provider `kupmios`',
  }),
  DEVNET_PORT: optionalNumber({
    minimum: 0,
    maximum: 65_535,
    description:
      "Port on HOST for the devnet's Blockfrost, Kupo and Ogmios interfaces; 0 takes a free one. Unset: only where other nodes share the devnet, on a free port",
  }),
  PROTOCOL: Type.String({
    default: 'RATATOSK',
    pattern: '^(?!MBLC)[A-Z0-9_]{1,16}$',
    allowed: 'up to 16 of A-Z, 0-9 and _, not beginning with MBLC',
    description: "Names the state queue's root unit, `<PROTOCOL>_CONFIRMED_STATE`",
  }),
  OPERATOR_SEED_PHRASE: optional({
    ...seedPhrase,
    description: 'Wallet that commits and merges, and whose key signs headers; required off the devnet',
  }),
  ADMIN_SEED_PHRASE: optional({
    ...seedPhrase,
    description: 'Wallet that begins, repairs and ends state queues; required off the devnet',
  }),
  OPERATOR_ADDRESS: optional({
    defaultNote: 'from OPERATOR_SEED_PHRASE',
    description: "The operator's address, for a role that only looks at its balance",
  }),
  ADMIN_KEY_HASH: optional({
    pattern: '^[0-9a-fA-F]{56}$',
    allowed: '56 hex digits',
    defaultNote: 'from ADMIN_SEED_PHRASE',
    description: "The administrator's key hash, for a role that only reads the state queue",
  }),
}
