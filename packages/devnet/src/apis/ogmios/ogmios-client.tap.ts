import { ogmiosSuite } from '@ratatosk/test-kit/ledger-apis'
import { test } from 'tap'
import { openLedger } from '../../test/open-ledger.js'

ogmiosSuite(test, openLedger)
