import type { ErrorGroup } from './types.js'

export const rollupErrors: readonly ErrorGroup[] = [
  {
    title: 'Layer 1',
    errors: [
      {
        codes: ['LAYER1_TIMEOUT', 'LAYER1_UNREACHABLE'],
        meaning: 'The provider of layer 1 did not answer',
        remedy: 'Check its address and the network. The node retries',
      },
      {
        codes: ['LAYER1_RATE_LIMITED'],
        meaning: "The provider's quota is spent",
        remedy: 'Wait, or use another plan or provider',
      },
      {
        codes: ['LAYER1_PROVIDER_ERROR', 'LAYER1_INVALID_ANSWER'],
        meaning: 'The provider failed, or its answer contradicts itself',
        remedy: 'The node retries; see the state of the provider',
      },
      {
        codes: ['LAYER1_UNAUTHORIZED'],
        meaning: 'The provider refused the credentials',
        remedy: 'Correct `BLOCKFROST_PROJECT_ID`',
      },
      {
        codes: ['LAYER1_WRONG_NETWORK'],
        meaning: 'The provider serves another network',
        remedy: "Correct `NETWORK` or the provider's URL",
      },
      {
        codes: ['LAYER1_REJECTED'],
        meaning: 'Layer 1 refused a transaction',
        remedy: 'The node builds it anew. If it repeats, the log has the reason',
      },
      {
        codes: ['LAYER1_ROLLED_BACK'],
        meaning: 'Layer 1 rolled a transaction back',
        remedy: 'Nothing: the node sends it again',
      },
      {
        codes: ['WALLET_INSUFFICIENT_FUNDS', 'SEQUENCER_INSUFFICIENT_FUNDS'],
        meaning: 'The wallet cannot pay',
        remedy: 'Send ada to the address that the message names',
      },
      {
        codes: ['WALLET_INVALID_KEY', 'WALLET_INVALID_SCRIPT'],
        meaning: 'A key or a native script cannot be read',
        remedy: 'Correct the setting that holds it',
      },
      {
        codes: ['WALLET_INVALID_DRAFT', 'WALLET_TRANSACTION_REFUSED'],
        meaning: 'A transaction cannot be built by the ledger rules',
        remedy: 'The node retries. If it repeats, report it with the log',
      },
      {
        codes: ['DEVNET_*'],
        meaning: 'The devnet cannot do this, or injects this fault on request',
        remedy: 'Follow the message',
      },
    ],
  },
  {
    title: 'Sequencer',
    errors: [
      {
        codes: ['SEQUENCER_NOT_INITIALISED'],
        meaning: 'Layer 1 has no state queue',
        remedy: 'Run `ratatosk init`',
      },
      {
        codes: ['SEQUENCER_NOT_ACTIVE'],
        meaning: 'Another process is the sequencer',
        remedy: 'Nothing; the request may be repeated',
      },
      {
        codes: ['SEQUENCER_NOT_IN_TURN', 'PROTOCOL_NOT_SCHEDULED'],
        meaning: "It is another operator's turn, or too little is left of this one",
        remedy: 'Wait for the next turn',
      },
      {
        codes: ['SEQUENCER_NOT_REGISTERED'],
        meaning: 'The operator is not in the registry',
        remedy: 'Run `ratatosk operator register`; a deployment without registry is initialised again',
      },
      {
        codes: ['SEQUENCER_BOND_LOCKED'],
        meaning: 'The operator has not retired, or its bond is not free yet',
        remedy: 'Run `ratatosk operator retire`, and wait until `releaseAt` of `/operators`',
      },
      {
        codes: ['SEQUENCER_NOT_YET_VALID', 'PROTOCOL_NOT_MATURE'],
        meaning: 'It is too early for this operation',
        remedy: 'Wait; check the clock of the machine',
      },
      {
        codes: ['SEQUENCER_NO_ADMINISTRATOR', 'PROTOCOL_ADMINISTRATOR_RENOUNCED'],
        meaning: "The operation needs the administrator's signature",
        remedy: "Run it where the administrator's keys are; a renounced administrator has none",
      },
      {
        codes: ['SEQUENCER_NO_ANSWERS'],
        meaning: 'The deployment has a summons, and the sequencer was created without answers',
        remedy: 'Create it with `answers`; the node always does',
      },
      {
        codes: ['SEQUENCER_NO_SUCH_BLOCK'],
        meaning: 'The state queue has no such block',
        remedy: 'Take a header hash of `/stateQueue`',
      },
      {
        codes: ['SEQUENCER_TOO_MANY_UNCONFIRMED'],
        meaning: 'Too many commitments wait for layer 1',
        remedy: 'Wait until layer 1 includes them',
      },
      {
        codes: [
          'SEQUENCER_BROKEN_QUEUE',
          'CONTRACTS_BROKEN_QUEUE',
          'PROTOCOL_BROKEN_QUEUE',
          'FOLLOWER_BROKEN_QUEUE',
        ],
        meaning: 'The state queue on layer 1 is not one list',
        remedy: 'Run `ratatosk repair`, then `ratatosk init`',
      },
      {
        codes: ['SEQUENCER_FOREIGN_QUEUE'],
        meaning: 'The state queue has blocks that this ledger lacks and no peer serves',
        remedy: 'Name the nodes of the other operators in `ARCHIVIST_PEERS`, or restore the newest backup',
      },
      {
        codes: ['SEQUENCER_INVALID_BLOCK'],
        meaning: 'Another operator has committed an invalid block; nothing is built on it',
        remedy: 'Run a watcher, which removes it',
      },
      {
        codes: ['SEQUENCER_GENESIS_MISMATCH', 'FOLLOWER_GENESIS_MISMATCH'],
        meaning: 'The ledger and layer 1 began differently',
        remedy: 'Use the `GENESIS_FILE` of the deployment',
      },
      {
        codes: ['SEQUENCER_DEPLOYMENT_OUTPUT_SPENT'],
        meaning: '`DEPLOYMENT_OUTPUT` is spent, so this deployment cannot begin again',
        remedy: 'Name another unspent output, which is another deployment',
      },
      {
        codes: ['PROTOCOL_TOO_MANY_ELEMENTS'],
        meaning: 'Layer 1 shows more elements than the protocol allows',
        remedy: 'Check `PROTOCOL` and the contract settings',
      },
      {
        codes: ['CONTRACTS_INVALID_PARAMETER'],
        meaning: 'A parameter of the contracts is out of range',
        remedy: 'Correct the contract setting that the message names',
      },
    ],
  },
  {
    title: 'Blocks, archivists and proofs of fraud',
    errors: [
      {
        codes: ['BLOCK_*'],
        meaning: 'A block body is malformed, too large, or breaks a rule; the message names the place',
        remedy:
          'Distrust the peer that sent it; if layer 1 has its header, the follower reports an invalid block',
      },
      {
        codes: ['FOLLOWER_PEER_ANSWER'],
        meaning: 'A peer sent something else than was asked',
        remedy: 'Nothing: other peers are asked. Remove the peer if it repeats',
      },
      {
        codes: ['FOLLOWER_NO_EVIDENCE'],
        meaning: 'The body of the invalid block is no longer kept',
        remedy: 'Raise `EVIDENCE_MAX_BYTES`',
      },
      {
        codes: ['FOLLOWER_ARCHIVE_MISMATCH', 'FOLLOWER_MERGED_BLOCK_LOST', 'FOLLOWER_STATE_INCOMPLETE'],
        meaning: 'The archive does not fit layer 1',
        remedy: 'Check `NETWORK` and the contract settings; otherwise begin with an empty store',
      },
      {
        codes: ['FRAUD_*'],
        meaning: 'A fraud proof does not fit the block, or was refused',
        remedy: 'Check that block and body belong together',
      },
      {
        codes: ['WATCHER_UNPROVABLE'],
        meaning: 'No fraud proof removes an invalid block from the state queue; the log says why',
        remedy: 'Build on no later block. The administrator, if there is one, can remove it',
      },
      {
        codes: ['WATCHER_TOO_LATE'],
        meaning: 'A question about a block would end too late for a removal before the block is mature',
        remedy: 'Build on no later block. The administrator, if there is one, can remove it',
      },
      {
        codes: ['WATCHER_MERGED'],
        meaning: 'An invalid block was merged before a proof removed it',
        remedy: 'The confirmed state is wrong: begin a new deployment with the ledger before the block',
      },
      {
        codes: ['WATCHER_LACKS_FUNDS'],
        meaning: "The watcher's wallet cannot pay for a proof, or may soon not",
        remedy: 'Send ada to the address that the message names; the watcher then goes on',
      },
      {
        codes: ['WATCHER_BUDGET_SPENT'],
        meaning: 'Fraud proofs have cost what they may in an hour',
        remedy: 'Wait, or raise `WATCHER_MAX_LOVELACE_PER_HOUR`',
      },
      {
        codes: ['PROVER_BUSY', 'EVALUATOR_BUSY'],
        meaning: 'Too many proofs or scripts wait',
        remedy: 'Retry',
      },
    ],
  },
  {
    title: 'Transactions and data',
    errors: [
      {
        codes: ['CBOR_*', 'PLUTUS_*', 'EFFECTS_*'],
        meaning: 'Bytes are not the CBOR, Plutus data or block that was expected; the name says how',
        remedy: 'Correct the sender',
      },
      {
        codes: ['ADDRESS_*'],
        meaning: 'An address is malformed; the name says how',
        remedy: 'Correct it',
      },
      {
        codes: ['LEDGER_INVALID_PARAMETERS'],
        meaning: 'The protocol parameters are incomplete or out of range',
        remedy: 'Correct `PROTOCOL_PARAMETERS_FILE`',
      },
      {
        codes: ['LEDGER_SCRIPTS_NOT_RUN'],
        meaning: 'Scripts could not be run, as with too little memory',
        remedy: 'The transaction is retried. Free memory',
      },
    ],
  },
  {
    title: 'Commands and clients',
    errors: [
      {
        codes: ['CLI_*'],
        meaning: 'A command of `ratatosk` failed',
        remedy: 'Follow the message',
      },
      {
        codes: ['CLIENT_*'],
        meaning: 'The client got no usable answer',
        remedy: 'Check the URL and the network, then retry; with `CLIENT_PROOF_INVALID`, distrust the node',
      },
    ],
  },
]
