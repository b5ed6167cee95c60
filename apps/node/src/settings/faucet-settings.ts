import { flag, oneOf, optional, wholeNumber } from './kinds.js'
import { seedPhrase } from './seed-phrase.js'

const maxLovelace = 1_000_000_000_000_000

/** Who may claim how much from the faucet, and who pays. */
export const faucetSettings = {
  FAUCET_TOKEN: optional({
    secret: true,
    description: 'Bearer token of `/faucet/claims`; without it there is no faucet',
  }),
  FAUCET_ENABLED: flag({ default: true, description: 'Off: no faucet, whatever the token' }),
  FAUCET_SEED_PHRASE: optional({
    ...seedPhrase,
    description: 'Wallet that pays; required for a faucet off the devnet',
  }),
  FAUCET_LAYER: oneOf(['1', '2'], {
    default: '1',
    description: 'Layer on which the faucet pays',
  }),
  FAUCET_AMOUNT: wholeNumber({
    default: 100_000_000,
    minimum: 1_000_000,
    maximum: maxLovelace,
    description: 'What a claim pays, in lovelace',
  }),
  FAUCET_COOLDOWN_SECONDS: wholeNumber({
    default: 86_400,
    minimum: 0,
    maximum: 31_536_000,
    description: 'Between two claims of an address',
  }),
  FAUCET_DAILY_IP_LIMIT: wholeNumber({
    default: 5,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Claims with one `ipHash` in any 24 hours at most',
  }),
  FAUCET_MIN_BALANCE: wholeNumber({
    default: 100_000_000,
    minimum: 0,
    maximum: maxLovelace,
    description: 'What the faucet leaves in its wallet, in lovelace',
  }),
}
