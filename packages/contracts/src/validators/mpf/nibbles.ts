import type { PByteString, PInt } from '@harmoniclabs/plu-ts'
import {
  addInteger,
  appendByteString,
  blake2b256,
  bytes,
  consByteString,
  divideInteger,
  equalsInteger,
  indexByteString,
  integer,
  lessThanInteger,
  modInteger,
  sliceByteString,
} from '../core/builtins.js'
import { type Bool, type Bytes, choose, defineOf, type Int, recursive } from '../core/term.js'

/*
 * Paths of the Merkle Patricia Forestry: the 64 nibbles of a Blake2b-256, the high one of each byte first.
 */

const pathBytes = 32

export const isEven = (value: Int): Bool => equalsInteger(modInteger(value, integer(2)), integer(0))
const half = (value: Int): Int => divideInteger(value, integer(2))

/** Fails beyond the end of the path. */
export const nibble = defineOf<[PByteString, PInt], PInt>(2, (path, index) =>
  choose(
    isEven(index),
    divideInteger(indexByteString(path, half(index)), integer(16)),
    modInteger(indexByteString(path, half(index)), integer(16)),
  ),
)

/** The nibbles from one place up to another, a byte each. */
export const nibbles = defineOf<[PByteString, PInt, PInt], PByteString>(3, (path, from, to) =>
  choose(
    equalsInteger(from, to),
    bytes(new Uint8Array()),
    recursive<PInt, PByteString>((self, index) =>
      choose(
        lessThanInteger(index, to),
        consByteString(nibble(path, index), self(addInteger(index, integer(1)))),
        bytes(new Uint8Array()),
      ),
    )(from),
  ),
)

/** The rest of a path as a leaf's hash has it: packed, behind a byte that says if it begins within a byte. */
export const suffix = defineOf<[PByteString, PInt], PByteString>(2, (path, from) =>
  choose(
    isEven(from),
    consByteString(integer(0xff), bytesFrom(path, half(from))),
    consByteString(
      integer(0),
      consByteString(nibble(path, from), bytesFrom(path, half(addInteger(from, integer(1))))),
    ),
  ),
)

const bytesFrom = (path: Bytes, start: Int): Bytes => sliceByteString(start, integer(pathBytes), path)

export const combine = (left: Bytes, right: Bytes): Bytes => blake2b256(appendByteString(left, right))
