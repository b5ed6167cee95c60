export { type Draft, draft, unitDatum } from '@ratatosk/test-kit/ledger-apis'
