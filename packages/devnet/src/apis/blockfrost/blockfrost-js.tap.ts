import { blockfrostSuite } from '@ratatosk/test-kit/ledger-apis'
import { test } from 'tap'
import { openLedger } from '../../test/open-ledger.js'

blockfrostSuite(test, openLedger)
