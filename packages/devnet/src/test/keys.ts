export { genesisOf, testKey } from '@ratatosk/test-kit/ledger-apis'
