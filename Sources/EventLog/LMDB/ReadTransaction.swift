import CLMDB

/// One prefix of an environment, unchanged for as long as the transaction is open.
///
/// It holds its environment strongly: LMDB must not be closed below an open transaction.
struct ReadTransaction: ~Copyable {
    private let handle: OpaquePointer
    private let environment: Environment

    init(environment: Environment, handle: OpaquePointer) {
        self.environment = environment
        self.handle = handle
    }

    deinit {
        mdb_txn_abort(handle)
        environment.transactionEnded()
    }

    /// Looking up and walking.
    var view: TransactionView { TransactionView(handle: handle) }
}
