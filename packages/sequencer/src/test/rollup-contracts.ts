import { fromHex } from '@ratatosk/cbor'
import { isRenounced, ledgerFraudScript } from '@ratatosk/contracts'
import { testGenesis, testWallets } from '@ratatosk/devnet'
import type { Credential, OutputReference } from '@ratatosk/ledger'
import { keysFromSeedPhrase } from '@ratatosk/ledger/builder'
import {
  type ContractParameters,
  type Contracts,
  openContracts,
  summonsTerms as termsOf,
} from '@ratatosk/protocol'

/** Of another operator. */
export const attackerKeys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 5 })

/** Of a third one. */
export const thirdKeys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 6 })

export const administratorKeys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 0 })
export const operatorKeys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 1 })

/** The first output of the genesis of `openChain`, which the administrator owns. */
export const deploymentOutput: OutputReference = { transactionId: new Uint8Array(32).fill(0x11), index: 0 }

/** The first output of the devnet's default genesis, which the administrator owns. */
export const devnetDeploymentOutput = (): OutputReference => {
  const [transactionId = '', index] = testGenesis().utxos[0]!.outref.split('#')
  return { transactionId: fromHex(transactionId), index: Number(index) }
}

/** The terms of the summons, where a test has one. */
export const summonsTerms = { ...termsOf(60_000n), period: 5_000n }

/** The terms of the bridge, where a test has one. */
export const bridgeTerms = { eventWait: 90_000n, bridged: [], reserveMin: 5_000_000n, payoutFee: 300_000n }

/** Parts of a deployment that a test may have. The bridge's wait is as short as a test's blocks allow. */
export const extraTerms = {
  summons: { summons: summonsTerms },
  bridge: { bridge: { ...bridgeTerms, eventWait: 7_000n } },
}
export type Extra = keyof typeof extraTerms

/** `maturityWindow` in milliseconds; neither summons nor bridge by default. */
export const contractsOf = (
  maturityWindow: bigint,
  deployment = deploymentOutput,
  administrator: Credential = { kind: 'key', hash: administratorKeys.payment.hash },
  terms: Pick<ContractParameters, 'summons' | 'bridge'> = {},
): Contracts =>
  openContracts(
    {
      protocol: 'RATATOSK',
      administrator,
      deploymentOutput: deployment,
      permissioned: !isRenounced(administrator),
      maturityWindow,
      turnLength: 60_000n,
      bond: 500_000_000n,
      releaseDelay: 60_000n + maturityWindow,
      maxOperators: 10n,
      verdictPolicies: [ledgerFraudScript()],
      ...terms,
    },
    0,
  )

/** The owner of the outputs of layer 2's genesis in tests. */
export const userSeed = 9
