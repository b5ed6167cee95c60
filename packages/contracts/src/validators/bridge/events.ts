import type { PByteString, PData, PInt, PList, PPair } from '@harmoniclabs/plu-ts'
import { BridgeDatum, Deposit, depositLimits, OutputDatum } from '../../layout.js'
import {
  addressOf,
  datumOf,
  inputsOf,
  lookUp,
  lovelaceOf,
  mintOf,
  outputsOf,
  referenceOf,
  scriptCredential,
  scriptFieldOf,
  scriptInfoOf,
  tokensOf,
  transactionOf,
  validToOf,
} from '../core/context.js'
import {
  any,
  at,
  both,
  constr,
  constructorOf,
  either,
  fieldsOf,
  hasShape,
  includes,
  isBytesOf,
  none,
  not,
} from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import * as p from '../core/term.js'
import { isAddress, networkOf, paymentHashIn } from '../fraud/cbor/outputs.js'
import { onlyBurns } from '../fraud/policy.js'
import { hashBytes } from '../mpf/proof.js'

/** The parameters of the script of events, as data, in the blueprint's order. */
export interface EventParameters {
  /** Bytes: hash of the bridge's script. */
  readonly bridge: p.Data
  /** Integer: milliseconds from the upper validity bound of a deposit until its time. */
  readonly eventWait: p.Data
  /** Integer: the network of layer-2 addresses. */
  readonly networkId: p.Data
  /** List of bytes: the policies that layer 1 backs. */
  readonly bridged: p.Data
}

/**
 * The policy of events, which the blocks of layer 2 have to take in: a token shows that an output at the
 * bridge is a deposit. A deposit says what it becomes on layer 2: its id is that of a transaction there, of
 * which it is output 0. Tokens are burned without rules.
 */
export const events = (book: RuleBook, parameters: EventParameters, context: p.Data): p.Unit =>
  p.scope(function* () {
    const transaction = yield* p.bind(transactionOf(context))
    // Every other purpose than minting fails here: none has a policy as its first field.
    const policy = yield* p.bind(at(fieldsOf(scriptInfoOf(context)), 0))
    const minted = yield* p.bind(lookUp(mintOf(transaction), policy))
    return p.choose(
      onlyBurns(p.unMapData(minted)),
      p.unitValue(),
      deposit(book, parameters, transaction, policy, minted),
    )
  })

/** Makes output 0 a deposit. @param minted the quantities under the policy */
const deposit = (
  book: RuleBook,
  { bridge, eventWait, networkId, bridged }: EventParameters,
  transaction: p.List,
  policy: p.Data,
  minted: p.Data,
): p.Unit =>
  p.scope(function* () {
    const output = yield* p.bind(p.headList(outputsOf(transaction)))
    const datum = yield* p.bind(datumOf(output))
    const fields = yield* p.bind(fieldsOf(datum))
    const id = yield* p.bind(
      p.bData(p.blake2b256(p.serialiseData(referenceOf(p.headList(inputsOf(transaction)))))),
    )
    const token = yield* p.bind(p.mapOf(id, p.iData(p.integer(1))))
    const held = yield* p.bind(p.unMapData(tokensOf(output)))
    const assets = yield* p.bind(withoutPolicy(held, policy))
    const address = yield* p.bind(p.unBData(at(fields, Deposit.address)))
    const carried = yield* p.bind(at(fields, Deposit.datum))
    return book.enforce({
      'event-mints-one': p.equalsData(minted, token),
      'event-holds-token': p.equalsData(lookUp(held, policy), token),
      'event-at-bridge': p.equalsData(addressOf(output), constr(0, scriptCredential(bridge), none())),
      'event-no-script': p.equalsData(scriptFieldOf(output), none()),
      'event-has-id': p.equalsData(at(fields, Deposit.id), id),
      'event-time': p.equalsData(
        at(fields, Deposit.time),
        p.iData(p.addInteger(validToOf(transaction), p.unIData(eventWait))),
      ),
      'deposit-shape': hasShape(datum, BridgeDatum.deposit, Deposit.size),
      'deposit-bridged-only': not(
        any(assets, (entry) => not(includes(p.unListData(bridged), p.fstPair(entry)))),
      ),
      'deposit-few-assets': p.lessThanEqualsInteger(assetCount(assets), p.integer(depositLimits.assets)),
      'deposit-address': both(isAddress(address), p.equalsInteger(networkOf(address), p.unIData(networkId))),
      'deposit-not-to-bridge': not(p.equalsByteString(paymentHashIn(address), p.unBData(bridge))),
      'deposit-datum': isDatum(carried),
      'deposit-output-hash': p.equalsData(
        at(fields, Deposit.outputHash),
        p.bData(p.blake2b256(outputBytes(address, lovelaceOf(output), assets, carried))),
      ),
    })
  })

/** The entries of a value but those of one policy; fails if it has none. */
const withoutPolicy = (entries: p.Entries, policy: p.Data): p.Entries =>
  p.recursive<PList<PPair<PData, PData>>, PList<PPair<PData, PData>>>((self, rest) =>
    p.choose(
      p.equalsData(p.fstPair(p.headList(rest)), policy),
      p.tailList(rest),
      p.prepend(p.headList(rest), self(p.tailList(rest))),
    ),
  )(entries)

/**
 * Whether data is the datum of an output. The length of an inline datum bounds its depth: decoders read 1,024
 * levels, and each takes two bytes.
 */
const isDatum = (datum: p.Data): p.Bool =>
  p.scope(function* () {
    const fields = yield* p.bind(fieldsOf(datum))
    return either(
      hasShape(datum, OutputDatum.none, 0),
      either(
        both(hasShape(datum, OutputDatum.hash, 1), isBytesOf(p.headList(fields), hashBytes)),
        both(
          hasShape(datum, OutputDatum.inline, 1),
          p.lessThanEqualsInteger(
            p.lengthOfByteString(p.serialiseData(p.headList(fields))),
            p.integer(depositLimits.datumBytes),
          ),
        ),
      ),
    )
  })

/*
 * The CBOR of the layer-2 output that a deposit becomes: heads in their shortest form, definite lengths,
 * fields, policies and names in ascending order. `depositOutput` writes the same bytes off chain.
 */

const Major = { number: 0, string: 2, map: 5 } as const

const head = (major: number, argument: p.Int): p.Bytes => headOf(p.integer(major), argument)

const headOf = p.defineOf<[PInt, PInt], PByteString>(2, (major, argument) =>
  p.scope(function* () {
    const base = yield* p.bind(p.multiplyInteger(major, p.integer(32)))
    const long = (info: number, size: number): p.Bytes =>
      p.consByteString(p.addInteger(base, p.integer(info)), p.integerToByteString(size, argument))
    return p.choose(
      p.lessThanInteger(argument, p.integer(24)),
      p.integerToByteString(1, p.addInteger(base, argument)),
      p.choose(
        p.lessThanInteger(argument, p.integer(2 ** 8)),
        long(24, 1),
        p.choose(
          p.lessThanInteger(argument, p.integer(2 ** 16)),
          long(25, 2),
          p.choose(p.lessThanInteger(argument, p.integer(2n ** 32n)), long(26, 4), long(27, 8)),
        ),
      ),
    )
  }),
)

const stringOf = p.define<PByteString, PByteString>((content) =>
  p.appendByteString(head(Major.string, p.lengthOfByteString(content)), content),
)

const sumOver = (entries: p.Entries, each: (entry: p.Entry) => p.Int): p.Int =>
  p.recursive<PList<PPair<PData, PData>>, PInt>((self, rest) =>
    p.choose(p.nullList(rest), p.integer(0), p.addInteger(each(p.headList(rest)), self(p.tailList(rest)))),
  )(entries)

const countOf = p.define<PList<PPair<PData, PData>>, PInt>((entries) => sumOver(entries, () => p.integer(1)))

/** The policies and the assets of a value without ada, counted together. */
const assetCount = (assets: p.Entries): p.Int =>
  sumOver(assets, (entry) => p.addInteger(p.integer(1), countOf(p.unMapData(p.sndPair(entry)))))

/** A map, whose keys are byte strings. */
const mapBytes = (entries: p.Entries, each: (value: p.Data) => p.Bytes): p.Bytes =>
  p.scope(function* () {
    const all = yield* p.bind(entries)
    return p.appendByteString(
      head(Major.map, countOf(all)),
      p.recursive<PList<PPair<PData, PData>>, PByteString>((self, rest) =>
        p.choose(
          p.nullList(rest),
          p.bytes(new Uint8Array()),
          p.scope(function* () {
            const entry = yield* p.bind(p.headList(rest))
            return p.appendByteString(
              stringOf(p.unBData(p.fstPair(entry))),
              p.appendByteString(each(p.sndPair(entry)), self(p.tailList(rest))),
            )
          }),
        ),
      )(all),
    )
  })

const valueBytes = (lovelace: p.Int, assets: p.Entries): p.Bytes =>
  p.choose(
    p.nullList(assets),
    head(Major.number, lovelace),
    p.consByteString(
      p.integer(0x82),
      p.appendByteString(
        head(Major.number, lovelace),
        mapBytes(assets, (names) =>
          mapBytes(p.unMapData(names), (quantity) => head(Major.number, p.unIData(quantity))),
        ),
      ),
    ),
  )

/** @param datum `OutputDatum` */
const outputBytes = (address: p.Bytes, lovelace: p.Int, assets: p.Entries, datum: p.Data): p.Bytes =>
  p.scope(function* () {
    const kind = yield* p.bind(constructorOf(datum))
    const start = yield* p.bind(
      p.appendByteString(stringOf(address), p.consByteString(p.integer(1), valueBytes(lovelace, assets))),
    )
    const content = p.headList(fieldsOf(datum))
    return p.choose(
      p.equalsInteger(kind, p.integer(OutputDatum.none)),
      p.appendByteString(p.bytes(Uint8Array.of(0xa2, 0)), start),
      p.appendByteString(
        p.bytes(Uint8Array.of(0xa3, 0)),
        p.appendByteString(
          start,
          p.choose(
            p.equalsInteger(kind, p.integer(OutputDatum.hash)),
            p.appendByteString(p.bytes(Uint8Array.of(2, 0x82, 0)), stringOf(p.unBData(content))),
            p.appendByteString(
              p.bytes(Uint8Array.of(2, 0x82, 1, 0xd8, 24)),
              stringOf(p.serialiseData(content)),
            ),
          ),
        ),
      ),
    )
  })
