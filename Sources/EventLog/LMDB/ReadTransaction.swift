import CLMDB

/// One state of an environment, unchanged for as long as the transaction is open.
///
/// It holds its environment strongly: LMDB must not be closed under an open transaction. Environments are opened with
/// `MDB_NOTLS`, so the transaction may move to another thread, but one thread at a time may use it. While it is open,
/// LMDB reuses no page of its state.
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

    /// For lookups and walks; must not outlive the transaction.
    var view: TransactionView { TransactionView(handle: handle) }
}
