import type { PByteString, PData, PInt, PList, PPair } from '@harmoniclabs/plu-ts'
import { OutputDatum } from '../../layout.js'
import {
  addInteger,
  appendByteString,
  bytes,
  consByteString,
  equalsInteger,
  fstPair,
  headList,
  integer,
  integerToByteString,
  lengthOfByteString,
  lessThanInteger,
  multiplyInteger,
  nullList,
  serialiseData,
  sndPair,
  tailList,
  unBData,
  unIData,
  unMapData,
} from '../core/builtins.js'
import { constructorOf, fieldsOf } from '../core/data.js'
import {
  type Bytes,
  bind,
  choose,
  type Data,
  define,
  defineOf,
  type Entries,
  type Entry,
  type Int,
  recursive,
  scope,
} from '../core/term.js'

/*
 * The CBOR of the layer-2 output that a deposit becomes: heads in their shortest form, definite lengths,
 * fields, policies and names in ascending order. `depositOutput` writes the same bytes off chain.
 */

const Major = { number: 0, string: 2, map: 5 } as const

const head = (major: number, argument: Int): Bytes => headOf(integer(major), argument)

const headOf = defineOf<[PInt, PInt], PByteString>(2, (major, argument) =>
  scope(function* () {
    const base = yield* bind(multiplyInteger(major, integer(32)))
    const long = (info: number, size: number): Bytes =>
      consByteString(addInteger(base, integer(info)), integerToByteString(size, argument))
    return choose(
      lessThanInteger(argument, integer(24)),
      integerToByteString(1, addInteger(base, argument)),
      choose(
        lessThanInteger(argument, integer(2 ** 8)),
        long(24, 1),
        choose(
          lessThanInteger(argument, integer(2 ** 16)),
          long(25, 2),
          choose(lessThanInteger(argument, integer(2n ** 32n)), long(26, 4), long(27, 8)),
        ),
      ),
    )
  }),
)

const stringOf = define<PByteString, PByteString>((content) =>
  appendByteString(head(Major.string, lengthOfByteString(content)), content),
)

const sumOver = (entries: Entries, each: (entry: Entry) => Int): Int =>
  recursive<PList<PPair<PData, PData>>, PInt>((self, rest) =>
    choose(nullList(rest), integer(0), addInteger(each(headList(rest)), self(tailList(rest)))),
  )(entries)

const countOf = define<PList<PPair<PData, PData>>, PInt>((entries) => sumOver(entries, () => integer(1)))

/** The policies and the assets of a value without ada, counted together. */
export const assetCount = (assets: Entries): Int =>
  sumOver(assets, (entry) => addInteger(integer(1), countOf(unMapData(sndPair(entry)))))

/** A map, whose keys are byte strings. */
const mapBytes = (entries: Entries, each: (value: Data) => Bytes): Bytes =>
  scope(function* () {
    const all = yield* bind(entries)
    return appendByteString(
      head(Major.map, countOf(all)),
      recursive<PList<PPair<PData, PData>>, PByteString>((self, rest) =>
        choose(
          nullList(rest),
          bytes(new Uint8Array()),
          scope(function* () {
            const entry = yield* bind(headList(rest))
            return appendByteString(
              stringOf(unBData(fstPair(entry))),
              appendByteString(each(sndPair(entry)), self(tailList(rest))),
            )
          }),
        ),
      )(all),
    )
  })

const valueBytes = (lovelace: Int, assets: Entries): Bytes =>
  choose(
    nullList(assets),
    head(Major.number, lovelace),
    consByteString(
      integer(0x82),
      appendByteString(
        head(Major.number, lovelace),
        mapBytes(assets, (names) =>
          mapBytes(unMapData(names), (quantity) => head(Major.number, unIData(quantity))),
        ),
      ),
    ),
  )

/** @param datum `OutputDatum` */
export const outputBytes = (address: Bytes, lovelace: Int, assets: Entries, datum: Data): Bytes =>
  scope(function* () {
    const kind = yield* bind(constructorOf(datum))
    const start = yield* bind(
      appendByteString(stringOf(address), consByteString(integer(1), valueBytes(lovelace, assets))),
    )
    const content = headList(fieldsOf(datum))
    return choose(
      equalsInteger(kind, integer(OutputDatum.none)),
      appendByteString(bytes(Uint8Array.of(0xa2, 0)), start),
      appendByteString(
        bytes(Uint8Array.of(0xa3, 0)),
        appendByteString(
          start,
          choose(
            equalsInteger(kind, integer(OutputDatum.hash)),
            appendByteString(bytes(Uint8Array.of(2, 0x82, 0)), stringOf(unBData(content))),
            appendByteString(bytes(Uint8Array.of(2, 0x82, 1, 0xd8, 24)), stringOf(serialiseData(content))),
          ),
        ),
      ),
    )
  })
