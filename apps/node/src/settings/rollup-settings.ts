import { verdictPolicies } from '@ratatosk/contracts'
import { Type } from '@sinclair/typebox'
import {
  flag,
  maxLovelace,
  oneOf,
  optional,
  optionalList,
  optionalNumber,
  optionalUrl,
  seedPhrase,
  wholeNumber,
} from './kinds.js'

/** Names of the policies of claims, which VERDICT_POLICIES takes beside `summons` and `none`. */
export const claimPolicies: readonly string[] = Object.keys(verdictPolicies)
const policyNames = [...claimPolicies, 'summons']
const yearMs = 31_536_000_000
const hourMs = 3_600_000

export const layer1Settings = {
  LAYER1_PROVIDER: oneOf(['devnet', 'blockfrost', 'kupmios'], {
    default: 'devnet',
    description: 'How layer 1 is reached; `devnet` is an embedded layer 1 for development',
  }),
  BLOCKFROST_URL: optionalUrl({
    example: 'https://cardano-preprod.blockfrost.io/api/v0',
    description: 'Base URL of Blockfrost or a compatible API',
  }),
  BLOCKFROST_PROJECT_ID: optional({ secret: true, description: 'Project id for Blockfrost' }),
  KUPO_URL: optionalUrl({
    example: 'http://127.0.0.1:1442',
    description: 'Base URL of Kupo, for the provider `kupmios`',
  }),
  OGMIOS_URL: optionalUrl({
    example: 'http://127.0.0.1:1337',
    description: 'Base URL of Ogmios, for the provider `kupmios`',
  }),
  DEVNET_PORT: optionalNumber({
    minimum: 0,
    maximum: 65_535,
    defaultNote: 'not served; if processes share the devnet, the port of its former host, or a free one',
    description:
      "Port on HOST for the devnet's Blockfrost, Kupo and Ogmios APIs, the same for a standby; `0` takes a " +
      'free port',
  }),
  OPERATOR_SEED_PHRASE: seedPhrase(
    "The operator's wallet: signs headers, pays for commitments and merges. Required off the devnet",
  ),
  OPERATOR_ADDRESS: optional({
    defaultNote: 'from `OPERATOR_SEED_PHRASE`',
    description: "The operator's bech32 address, for the role `api`, which only reads its balance",
  }),
  ADMIN_SEED_PHRASE: seedPhrase(
    "The administrator's wallet: signs init, repair, reset and removals; for `ADMIN_SCRIPT`, phrases of " +
      'enough of its keys, separated by commas. Commits and merges need only `ADMIN_KEY_HASH` or ' +
      '`ADMIN_SCRIPT`',
    { several: true },
  ),
  ADMIN_KEY_HASH: optional({
    pattern: '^[0-9a-fA-F]{56}$',
    allowed: '56 hex digits',
    defaultNote: 'from `ADMIN_SEED_PHRASE`',
    description:
      "Hash of the administrator's key, for nodes without the key: they refuse what the administrator has " +
      'to sign',
  }),
  ADMIN_RENOUNCED: flag({
    default: false,
    description:
      'The deployment has no administrator: the operator initialises it, any key may register as an ' +
      'operator, reset and repair are refused, and a block is removed only by a proof of fraud; needs all ' +
      '`VERDICT_POLICIES`, and is refused on mainnet',
  }),
  ADMIN_SCRIPT: optional({
    pattern: '^\\s*(\\{[^]*\\}|([0-9a-fA-F]{2})+)\\s*$',
    allowed: "a native script as hex of its CBOR or as cardano-cli's JSON, or its hash of 56 hex digits",
    description:
      "Native script that is the administrator in place of a key: hex of its CBOR, cardano-cli's JSON, or " +
      "its hash; by the script itself, a node signs if its phrases, the operator's included, satisfy it",
  }),
}

/** Parameters of the contracts: other values are another deployment, at other addresses. */
export const contractSettings = {
  PROTOCOL: Type.String({
    default: 'RATATOSK',
    pattern: '^(?!MBLC)[A-Z0-9_]{1,16}$',
    allowed: 'up to 16 of A-Z, 0-9 and _, not starting with MBLC',
    description: 'Name of the deployment: its root unit is `<PROTOCOL>_CONFIRMED_STATE`',
  }),
  DEPLOYMENT_OUTPUT: optional({
    pattern: '^[0-9a-fA-F]{64}#(0|[1-9][0-9]{0,4})$',
    allowed: 'an output reference such as <64 hex digits>#0',
    defaultNote: "required; devnet: the first output of its test wallet in the devnet's genesis",
    description:
      'Unspent output of the administrator, or of the operator if `ADMIN_RENOUNCED`, that the first ' +
      "`/init` spends. It makes the deployment's contracts unique; do not spend it before",
  }),
  MATURITY_WINDOW_MS: optionalNumber({
    minimum: 0,
    maximum: yearMs,
    defaultNote: '`604800000` (7 days); devnet: `30000`',
    description: "Maturity window: time from a block's end until it may be merged, in milliseconds",
  }),
  OPERATOR_TURN_MS: wholeNumber({
    default: hourMs,
    minimum: 10_000,
    maximum: yearMs,
    description:
      "Length of an operator's turn, in milliseconds; for a third of `BLOCK_VALIDITY_MS` before its end " +
      'nothing is committed',
  }),
  TAKEOVER_AFTER_MS: optionalNumber({
    minimum: 1000,
    maximum: yearMs,
    defaultNote: 'a quarter of `OPERATOR_TURN_MS`; devnet: `15000`',
    description:
      'When the last block ended so long ago, operators who are not in turn commit too, in milliseconds; ' +
      'their commits are valid for no longer',
  }),
  OPERATOR_BOND: optionalNumber({
    minimum: 1_000_000,
    maximum: maxLovelace,
    defaultNote: '`130000000`; devnet: `500000000`',
    description: "An operator's bond, in lovelace; [with a summons](summons.md#money) at most `174000000`",
  }),
  SLASH_PENALTY: optionalNumber({
    minimum: 0,
    maximum: maxLovelace,
    defaultNote: '`115000000`; devnet: `0`',
    description:
      'Part of a slashed bond that stays in the registry, in lovelace; the prover of the fraud gets the ' +
      'rest. At `0`, operators who prove their own frauds first lose nothing; off the devnet at least a ' +
      'tenth of `OPERATOR_BOND`, and more with a summons',
  }),
  VERDICT_POLICIES: optionalList({
    pattern: `^(none|${policyNames.join('|')})$`,
    allowed: `none, or any of ${policyNames.join(', ')}, separated by commas`,
    defaultNote: 'all that know the rules of layer 2, and `summons`; mainnet: `none`',
    description:
      'Policies of fraud proofs by which anyone removes an invalid block, and its operator loses the bond; ' +
      '`summons`: so does a question about a block that its operator does not answer in a fourteenth of ' +
      'the maturity window, but at least 10 s or a quarter of a shorter one; refused on mainnet; `none`: ' +
      'only the administrator removes blocks',
  }),
}

/** Parameters of the contracts too, of deposits and withdrawals. */
export const bridgeSettings = {
  BRIDGE: Type.Optional(
    Type.Boolean({
      defaultNote: '`false`; devnet: `true`',
      description:
        'Deposits from layer 1 and withdrawals to it; for the devnet only, because nothing on layer 1 ' +
        'proves lies about them yet',
    }),
  ),
  EVENT_WAIT_MS: optionalNumber({
    minimum: 5000,
    maximum: yearMs,
    defaultNote: '`15000`, or 5000 more than `BLOCK_VALIDITY_MS` if that is more',
    description:
      'Time from the last moment in which layer 1 could include a deposit until a block credits it, in ' +
      'milliseconds; at least 5000 more than `BLOCK_VALIDITY_MS`',
  }),
  BRIDGED_POLICIES: optionalList({
    pattern: '^[0-9a-fA-F]{56}$',
    allowed: 'up to 8 policies of 56 hex digits, separated by commas',
    defaultNote: 'none: only ada',
    description: 'Policies whose assets may be deposited and withdrawn; layer 2 does not mint them',
  }),
  AUTO_PAY: flag({
    default: true,
    description: 'Pay withdrawals of merged blocks automatically; if off, only `/payout` does',
  }),
}

export const sequencerSettings = {
  AUTO_INIT: Type.Optional(
    Type.Boolean({
      defaultNote: '`false`; devnet: `true`',
      description:
        'Initialise the state queue automatically if it does not exist and the ledger has no block',
    }),
  ),
  AUTO_COMMIT: flag({
    default: true,
    description: 'Commit blocks automatically; if off, only `/commit` does',
  }),
  AUTO_MERGE: flag({
    default: true,
    description: 'Merge mature blocks automatically; if off, only `/merge` does',
  }),
  COMMIT_INTERVAL_MS: optionalNumber({
    minimum: 100,
    maximum: hourMs,
    defaultNote: '`300000`; devnet: `750`',
    description:
      'Minimum time between two commitments, in milliseconds; full blocks follow in the next slot of layer 1',
  }),
  COMMIT_BUDGET_PER_HOUR: optionalNumber({
    minimum: 0,
    maximum: maxLovelace,
    defaultNote: '`20000000`; devnet: `0`',
    description:
      'Lovelace that commits and merges may cost in an hour; at 80 % commits slow down; `0`: no limit',
  }),
  MERGE_INTERVAL_MS: wholeNumber({
    default: 10_000,
    minimum: 100,
    maximum: hourMs,
    description: 'Time between two attempts to merge the oldest block, in milliseconds',
  }),
  BLOCK_MAX_TRANSACTIONS: wholeNumber({
    default: 10_000,
    minimum: 1,
    maximum: 100_000,
    description: 'Maximum number of transactions in a block',
  }),
  BLOCK_VALIDITY_MS: optionalNumber({
    minimum: 1000,
    maximum: hourMs,
    defaultNote: '`120000`; devnet: `10000`',
    description: 'Validity interval of a commitment on layer 1, in milliseconds; the block ends with it',
  }),
  SEQUENCER_LEASE_MS: wholeNumber({
    default: 10_000,
    minimum: 1000,
    maximum: 600_000,
    description:
      'Time after which another sequencer takes over from one that stopped responding, in milliseconds',
  }),
  OPERATOR_PEERS: optionalList({
    pattern: '^https?://[^\\s,]+$',
    allowed: 'URLs such as http://node:3000, separated by commas',
    description:
      'Base URLs of the nodes of other operators. Outside the turns of its operator, a sequencer sends ' +
      'them what it has accepted, by `/submit`, until it is in a block',
  }),
  OPERATION_INTERVAL_MS: optionalNumber({
    minimum: 0,
    maximum: 60_000,
    defaultNote: '`10000`; devnet: `50`',
    description:
      'Minimum time between two runs of the same operator operation, in milliseconds; earlier requests ' +
      'wait for the next run and share its answer',
  }),
  OPERATION_TIMEOUT_MS: wholeNumber({
    default: 180_000,
    minimum: 1000,
    maximum: hourMs,
    description: 'Time that an operator endpoint waits for the sequencer and for layer 1, in milliseconds',
  }),
}

export const archivistSettings = {
  ARCHIVIST_PEERS: optionalList({
    pattern: '^https?://[^\\s,]+$',
    allowed: 'URLs such as http://sequencer:3000/archivist, separated by commas',
    description:
      'Base URLs that serve block bodies to archivists and watchers, and to sequencers, which then follow ' +
      'the blocks of other operators: `/archivist` on nodes and sequencers, `/` on archivists',
  }),
  EVIDENCE_MAX_BYTES: wholeNumber({
    default: 1024 ** 3,
    minimum: 0,
    maximum: 2 ** 50,
    description:
      'Bytes of invalid blocks that an archivist keeps on disk and serves at `/invalid-blocks`, the newest ' +
      'first; `0`: none, and no such route',
  }),
}

export const watcherSettings = {
  WATCHER_SEED_PHRASE: seedPhrase(
    "The watcher's wallet: pays for fraud proofs, which remove invalid blocks, and receives the bonds. " +
      'Required for the role `watcher` off the devnet; an archivist or a sequencer with it watches too',
  ),
  WATCHER_MAX_LOVELACE_PER_HOUR: wholeNumber({
    default: 500_000_000,
    minimum: 0,
    maximum: maxLovelace,
    description:
      'Lovelace that fraud proofs and questions may cost in an hour, with the ada that questions and parts ' +
      'of large proofs lock; `0`: no limit',
  }),
  WATCHER_PATIENCE_MS: optionalNumber({
    minimum: 0,
    maximum: yearMs,
    defaultNote: 'a sixtieth of `MATURITY_WINDOW_MS`; in a short one, a tenth or a minute',
    description:
      "Milliseconds after a block's end in which peers may be without its body, before the watcher asks " +
      'the operator for it on layer 1',
  }),
}
