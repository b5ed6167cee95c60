import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  Address,
  ChangeSelectionAlgo,
  type CostModels,
  Credential,
  EnterpriseAddress,
  ExUnitPrices,
  hash_transaction,
  LinearFee,
  make_vkey_witness,
  PrivateKey,
  Rational,
  SingleInputBuilder,
  TransactionBuilder,
  type TransactionBuilderConfig,
  TransactionBuilderConfigBuilder,
  TransactionHash,
  TransactionInput,
  TransactionOutput,
  TransactionOutputBuilder,
  Value,
} from '@dcspark/cardano-multiplatform-lib-nodejs'
import { toHex } from '@ratatosk/cbor'
import { testWallets } from '@ratatosk/devnet'
import { keyOf, outputOf, transfer } from '@ratatosk/fixtures'
import { blake2b256, type ProtocolParameters, parseProtocolParameters } from '@ratatosk/ledger'
import type { Test } from 'tap'
import { temporaryDirectory } from './backends.js'

const phrase = `${Array.from({ length: 23 }, () => 'abandon').join(' ')} art`

/** Settings of a node of a public network that commits nothing. @param url base URL of its layer 1 */
export function publicNetwork(
  NETWORK: 'preprod' | 'mainnet',
  url = 'http://127.0.0.1:9',
): Readonly<Record<string, string>> {
  return {
    NETWORK,
    LAYER1_PROVIDER: 'blockfrost',
    BLOCKFROST_URL: `${url}/blockfrost/api/v0`,
    DEPLOYMENT_OUTPUT: `${'ab'.repeat(32)}#0`,
    OPERATOR_TOKEN: 'open-sesame',
    OPERATOR_SEED_PHRASE: phrase,
    ADMIN_SEED_PHRASE: phrase,
    AUTO_INIT: 'false',
    AUTO_COMMIT: 'false',
    AUTO_MERGE: 'false',
  }
}

const lovelace = 10_000_000n
const fee = 200_000n

interface ManyTransfers {
  /** For GENESIS_FILE: one output per transfer. */
  readonly genesisFile: string
  /** Each spends another genesis output. */
  readonly transfers: readonly { readonly hash: string; readonly cborHex: string }[]
}

/** Many independent valid transfers; faster to make than with an SDK. */
export async function manyTransfers(
  t: Test,
  count: number,
  others: readonly { readonly outref: string; readonly output: string }[] = [],
): Promise<ManyTransfers> {
  const key = keyOf(7)
  const utxos = [...others]
  const transfers = Array.from({ length: count }, (_, n) => {
    const transactionId = blake2b256(Buffer.from(`transfer ${n}`))
    utxos.push({ outref: `${toHex(transactionId)}#0`, output: toHex(outputOf(key, lovelace)) })
    const { id, cbor } = transfer(key, [{ transactionId, index: 0 }], [lovelace - fee], { fee })
    return { hash: toHex(id), cborHex: toHex(cbor) }
  })
  const genesisFile = join(await temporaryDirectory(t), 'genesis.json')
  await writeFile(genesisFile, JSON.stringify({ utxos }))
  return { genesisFile, transfers }
}

export interface Transfer {
  readonly hash: string
  readonly cborHex: string
  /** Lovelace. */
  readonly fee: bigint
  /** Bytes. */
  readonly size: number
}

/** The protocol parameters of a node without PROTOCOL_PARAMETERS_FILE. */
export async function devnetParameters(): Promise<ProtocolParameters> {
  const path = new URL('../../parameters/preprod-11.json', import.meta.url)
  return parseProtocolParameters(JSON.parse(await readFile(path, 'utf8')))
}

/** Configures CML's transaction builder; cost models are needed only for scripts. */
export function builderConfig(
  parameters: ProtocolParameters,
  costModels?: CostModels,
): TransactionBuilderConfig {
  const { memory, steps } = parameters.executionPrices
  const referenceScripts = parameters.referenceScriptCostPerByte
  const builder = TransactionBuilderConfigBuilder.new()
    .fee_algo(
      LinearFee.new(
        parameters.minFeeA,
        parameters.minFeeB,
        referenceScripts.numerator / referenceScripts.denominator,
      ),
    )
    .coins_per_utxo_byte(parameters.coinsPerUtxoByte)
    .pool_deposit(parameters.poolDeposit)
    .key_deposit(parameters.keyDeposit)
    .max_value_size(parameters.maxValueSize)
    .max_tx_size(parameters.maxTransactionSize)
    .ex_unit_prices(
      ExUnitPrices.new(
        Rational.new(memory.numerator, memory.denominator),
        Rational.new(steps.numerator, steps.denominator),
      ),
    )
    .collateral_percentage(Number(parameters.collateralPercentage))
    .max_collateral_inputs(parameters.maxCollateralInputs)
  return (costModels === undefined ? builder : builder.cost_models(costModels)).build()
}

/** Builds and signs a payment that spends one output; the change goes back to its owner. */
export function signedTransfer(
  config: TransactionBuilderConfig,
  from: Wallet,
  utxo: Funds['utxo'],
  to: Address,
  lovelace: bigint,
): Transfer {
  const builder = TransactionBuilder.new(config)
  const input = SingleInputBuilder.new(
    TransactionInput.from_cbor_hex(utxo.outref),
    TransactionOutput.from_cbor_hex(utxo.value),
  )
  builder.add_input(input.payment_key())
  builder.add_output(
    TransactionOutputBuilder.new().with_address(to).next().with_value(Value.from_coin(lovelace)).build(),
  )
  const signed = builder.build(ChangeSelectionAlgo.Default, from.address)
  const hash = hash_transaction(signed.body())
  const fee = signed.body().fee()
  signed.add_vkey(make_vkey_witness(hash, from.key))
  const cborHex = signed.build_checked().to_cbor_hex()
  return { hash: hash.to_hex(), cborHex, fee, size: cborHex.length / 2 }
}

/** Lovelace in an output of hex CBOR. */
export function lovelaceOf(outputHex: string): bigint {
  return TransactionOutput.from_cbor_hex(outputHex).amount().coin()
}

interface Wallet {
  readonly key: PrivateKey
  readonly address: Address
  readonly bech32: string
}

/** A wallet with an output that it owns, as `GET /utxos` returns it: both in hex CBOR. */
export interface Funds {
  readonly wallet: Wallet
  readonly utxo: { readonly outref: string; readonly value: string }
}

/** A new key, with an address of the test networks. */
export function newWallet(): Wallet {
  const key = PrivateKey.generate_ed25519()
  const credential = Credential.new_pub_key(key.to_public().hash())
  const address = EnterpriseAddress.new(0, credential).to_address()
  return { key, address, bech32: address.to_bech32() }
}

const folder = new URL('../../genesis/', import.meta.url)
const { wallets } = testWallets
const { utxos }: { utxos: { outref: string; output: string }[] } = JSON.parse(
  readFileSync(new URL('devnet.json', folder), 'utf8'),
)
const outputsEach = utxos.length / wallets.length

/** A genesis output of the devnet, by account and position among the account's outputs. */
export function devnetFunds(account: number, place: number): Funds {
  const { address, signingKey } = wallets[account]!
  const { outref, output } = utxos[account * outputsEach + place]!
  const [hash, index] = outref.split('#')
  const input = TransactionInput.new(TransactionHash.from_hex(hash!), BigInt(index!))
  return {
    wallet: {
      key: PrivateKey.from_bech32(signingKey),
      address: Address.from_bech32(address),
      bech32: address,
    },
    utxo: { outref: input.to_canonical_cbor_hex(), value: output },
  }
}

/** A valid transfer of 5 ada from a genesis output of the devnet to an unused address. */
export async function transferFrom(
  account: number,
  place: number,
): Promise<{ transfer: Transfer; receiver: string }> {
  const { wallet, utxo } = devnetFunds(account, place)
  const receiver = newWallet()
  const transfer = signedTransfer(
    builderConfig(await devnetParameters()),
    wallet,
    utxo,
    receiver.address,
    5_000_000n,
  )
  return { transfer, receiver: receiver.bech32 }
}
