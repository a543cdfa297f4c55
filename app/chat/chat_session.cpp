#include "app/chat/chat_session.h"

#include <QClipboard>
#include <QDateTime>
#include <QGuiApplication>
#include <QUuid>
#include <utility>

#include "app/chat/answer_text.h"
#include "app/inference/status_text.h"

namespace glmchat {
namespace {

constexpr qsizetype kMaxTitleLength = 80;
const QString kAnswerTopic = QStringLiteral("answer");
const QString kStorageTopic = QStringLiteral("storage");

QString newId() {
    return QUuid::createUuid().toString(QUuid::WithoutBraces);
}

qint64 nowMs() {
    return QDateTime::currentMSecsSinceEpoch();
}

double toMs(std::chrono::nanoseconds duration) {
    return std::chrono::duration<double, std::milli>(duration).count();
}

QString titleOf(const QString& question) {
    return question.trimmed().section(u'\n', 0, 0).simplified().left(kMaxTitleLength);
}

QString reasonName(FinishReason reason) {
    const std::string_view name = finish_reason_name(reason);
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

MessageStatus::Value statusAfter(FinishReason reason) {
    switch (reason) {
        case FinishReason::kStopToken:
        case FinishReason::kStopString:
            return MessageStatus::Complete;
        case FinishReason::kMaxNewTokens:
        case FinishReason::kContextFull:
            return MessageStatus::Cut;
        case FinishReason::kCancelled:
            return MessageStatus::Stopped;
    }
    return MessageStatus::Complete;
}

}  // namespace

ChatSession::ChatSession(EngineClient& engine, StorageClient& storage, const ParameterModel& parameters,
                         QObject* parent)
    : QObject(parent),
      m_engine(engine),
      m_storage(storage),
      m_parameters(parameters),
      m_card(this),
      m_messages(this) {
    startConversation({});
    m_answerTimer.setInterval(kAnswerSaveMs);
    m_draftTimer.setInterval(kDraftSaveMs);
    m_draftTimer.setSingleShot(true);
    connect(&m_answerTimer, &QTimer::timeout, this, [this] {
        m_messages.updateLast(m_messages.last().status, m_running->record);
        saveMessage(m_messages.last().id);
    });
    connect(&m_draftTimer, &QTimer::timeout, this, &ChatSession::save);
    connect(&m_storage, &StorageClient::opened, this, &ChatSession::takeStorageOpened);
    connect(&m_storage, &StorageClient::saved, this, &ChatSession::takeSaved);
    connectEngine();
}

void ChatSession::connectEngine() {
    connect(&m_engine, &EngineClient::stateChanged, this, &ChatSession::announceState);
    connect(&m_engine, &EngineClient::stateChanged, this,
            &ChatSession::progressChanged);  // the context's limit
    connect(&m_engine, &EngineClient::chatEvent, this, &ChatSession::takeEvent);
    connect(&m_engine, &EngineClient::chatAbandoned, this,
            [this] { endAnswer(MessageStatus::Stopped, reasonName(FinishReason::kCancelled)); });
}

EngineState::Value ChatSession::state() const {
    const bool waitsForDisk = m_running && !m_running->engineStarted;
    return waitsForDisk ? EngineState::Prefilling : m_engine.state();
}

bool ChatSession::canSend() const {
    return !m_running && m_engine.state() == EngineState::Ready;
}

bool ChatSession::canStop() const {
    return m_running && state() != EngineState::Stopping;
}

bool ChatSession::canRegenerate() const {
    return canSend() && m_messages.size() > 1 && m_messages.last().author == Author::Assistant;
}

QString ChatSession::stateText() const {
    switch (state()) {
        case EngineState::NoModel:
        case EngineState::Failed:
            return tr("No model");
        case EngineState::Loading:
            return tr("Loading the model…");
        case EngineState::Ready:
            return tr("Ready");
        case EngineState::Decoding:
            return tr("Writing…");
        case EngineState::Stopping:
            return tr("Stopping…");
        case EngineState::Prefilling:
            break;
    }
    if (m_progress.prefillTotal == 0) return tr("Reading…");
    return tr("Reading %1 tokens… %2 %")
        .arg(m_progress.prefillTotal)
        .arg(100 * m_progress.prefillDone / m_progress.prefillTotal);
}

void ChatSession::setDraft(const QString& draft) {
    if (draft == m_conversation.draft) return;
    m_conversation.draft = draft;
    m_draftTimer.start();
    emit draftChanged();
}

bool ChatSession::send(const QString& text) {
    if (!canSend() || text.trimmed().isEmpty()) return false;
    MessageRecord question;
    question.id = newId();
    question.parentId = m_messages.size() > 0 ? m_messages.last().id : QString();
    question.author = Author::User;
    question.text = text;
    question.createdMs = question.changedMs = nowMs();
    m_messages.append(question);
    m_unsaved.insert(question.id);
    if (m_messages.size() == 1) m_conversation.title = titleOf(text);
    m_draftTimer.stop();
    m_conversation.draft.clear();
    emit draftChanged();
    beginAnswer(question.id);
    return true;
}

void ChatSession::regenerate() {
    if (!canRegenerate()) return;
    const QString questionId = m_messages.last().parentId;
    m_messages.removeLast();
    beginAnswer(questionId);
}

/// Question and empty answer go to the disk; takeSaved() starts the engine.
void ChatSession::beginAnswer(const QString& parentId) {
    m_card.clear(kAnswerTopic);
    m_progress = {};
    m_running.emplace();
    m_running->record = newAnswerRecord();
    m_running->sinceSent.start();

    MessageRecord answer;
    answer.id = newId();
    answer.parentId = parentId;
    answer.author = Author::Assistant;
    answer.status = MessageStatus::Pending;
    answer.createdMs = answer.changedMs = nowMs();
    answer.answer = m_running->record;
    m_messages.append(answer);
    saveMessage(answer.id);
    m_running->saveTicket = m_saving.lastTicket;
    announceState();
    emit progressChanged();
}

AnswerRecord ChatSession::newAnswerRecord() const {
    const ChatEngineInfo& info = m_engine.info();
    AnswerRecord record;
    record.modelName = QString::fromStdString(info.model_name);
    record.precision = QString::fromStdString(precision_name(info.precision));
    record.device = QString::fromStdString(info.device_name);
    record.temperature = m_parameters.value(ParameterModel::Temperature);
    record.topP = m_parameters.value(ParameterModel::TopP);
    record.topK = static_cast<int>(m_parameters.value(ParameterModel::TopK));
    record.repetitionPenalty = m_parameters.value(ParameterModel::RepetitionPenalty);
    record.maxNewTokens = static_cast<int>(m_parameters.value(ParameterModel::MaxNewTokens));
    record.contextSize = info.context_size;
    return record;
}

void ChatSession::startEngine() {
    if (m_engine.state() != EngineState::Ready) {  // the model went away while the disk was busy
        return endAnswer(MessageStatus::Stopped, reasonName(FinishReason::kCancelled));
    }
    ChatRequest request;
    request.messages = history();
    request.sampling = m_parameters.samplingParams();
    request.seed = m_parameters.seed();
    request.max_new_tokens = m_running->record.maxNewTokens;
    m_running->engineStarted = true;
    m_engine.chat(std::move(request));
}

/// What is sent: every round that has an answer, and the last question. An empty answer would teach the model
/// to say nothing.
std::vector<ChatMessage> ChatSession::history() const {
    std::vector<ChatMessage> messages;
    const int lastQuestion = m_messages.size() - 2;
    for (int row = 0; row <= lastQuestion; ++row) {
        const MessageRecord& message = m_messages.at(row);
        const bool isQuestion = message.author == Author::User;
        const bool unanswered = isQuestion && row < lastQuestion && m_messages.at(row + 1).text.isEmpty();
        if (unanswered || (!isQuestion && message.text.isEmpty())) continue;
        ChatMessage& sent = messages.emplace_back();
        sent.role = isQuestion ? Role::kUser : Role::kAssistant;
        sent.content = message.text.toStdString();
        if (const auto kept = m_keptIds.constFind(message.id); kept != m_keptIds.cend()) {
            sent.prompt_ids = kept->promptIds;
            sent.answer_ids = kept->answerIds;
        }
    }
    return messages;
}

void ChatSession::stop() {
    if (!canStop()) return;
    if (m_running->engineStarted) {
        m_engine.stop();
    } else {
        endAnswer(MessageStatus::Stopped, reasonName(FinishReason::kCancelled));
    }
}

void ChatSession::takeEvent(const ChatEvent& event) {
    if (!m_running) return;
    std::visit([this](const auto& what) { take(what); }, event.what);
}

void ChatSession::take(const ChatStarted& started) {
    AnswerRecord& record = m_running->record;
    record.seed = static_cast<qint64>(started.seed);
    record.numPromptTokens = static_cast<int>(started.prompt_ids.size());
    record.numDroppedRounds = started.num_dropped_rounds;
    m_keptIds[m_messages.last().id].promptIds = started.prompt_ids;
    m_progress.contextUsed = record.numPromptTokens;
    m_progress.droppedRounds = started.num_dropped_rounds;
    m_messages.updateLast(MessageStatus::Pending, record);
    m_answerTimer.start();
    emit progressChanged();
}

void ChatSession::take(const PrefillProgress& progress) {
    m_progress.prefillDone = progress.num_done;
    m_progress.prefillTotal = progress.num_total;
    emit progressChanged();
    emit stateTextChanged();
}

void ChatSession::take(const ChatText& text) {
    AnswerRecord& record = m_running->record;
    record.numNewTokens = text.num_new_tokens;
    if (!m_running->sinceFirstText.isValid()) {
        m_running->sinceFirstText.start();
        record.firstTokenMs = static_cast<double>(m_running->sinceSent.elapsed());
        m_messages.updateLast(MessageStatus::Streaming, record);
    }
    record.decodeMs = static_cast<double>(m_running->sinceFirstText.elapsed());
    m_messages.appendText(QString::fromStdString(text.text));
    m_progress.tokensPerSecond = decodeRate(record.numNewTokens, record.decodeMs);
    m_progress.contextUsed = record.numPromptTokens + record.numNewTokens;
    emit progressChanged();
}

void ChatSession::take(const ChatFinished& finished) {
    const GenerationStats& stats = finished.stats;
    AnswerRecord& record = m_running->record;
    record.numPromptTokens = stats.num_prompt_tokens;
    record.numReusedTokens = stats.num_reused_tokens;
    record.numNewTokens = stats.num_new_tokens;
    record.firstTokenMs = toMs(stats.queue_time + stats.prefill_time);
    record.decodeMs = toMs(stats.decode_time);
    m_keptIds[m_messages.last().id].answerIds = finished.answer_ids;
    m_messages.setLastText(QString::fromStdString(finished.full_text));
    m_progress.tokensPerSecond = decodeRate(record.numNewTokens, record.decodeMs);
    m_progress.contextUsed = record.numPromptTokens + record.numNewTokens;
    endAnswer(statusAfter(finished.reason), reasonName(finished.reason));
}

void ChatSession::take(const ChatFailed& failed) {
    endAnswer(MessageStatus::Failed, QStringLiteral("failed"));
    ErrorContent content{kAnswerTopic,
                         tr("The answer failed: %1").arg(statusKindText(failed.status.kind)),
                         statusMessage(failed.status),
                         statusDetail(failed.status),
                         tr("Try again"),
                         [this] { regenerate(); }};
    if (failed.status.kind == StatusKind::kContextFull) {
        content.actionText = tr("New chat");
        content.action = [this] { newChat(); };
    }
    m_card.show(std::move(content));
}

/// The one way an answer ends: finished, stopped, failed, or its model unloaded. Its text so far stays.
void ChatSession::endAnswer(MessageStatus::Value status, const QString& stopReason) {
    if (!m_running) return;
    m_answerTimer.stop();
    m_running->record.stopReason = stopReason;
    m_messages.updateLast(status, m_running->record);
    m_running.reset();
    saveMessage(m_messages.last().id);
    announceState();
    emit progressChanged();
}

void ChatSession::newChat() {
    leaveAnswer();
    const QString draft = std::exchange(m_conversation.draft, {});
    if (m_messages.size() > 0) save();
    m_messages.reset({});
    m_keptIds.clear();
    m_unsaved.clear();
    m_progress = {};
    m_card.clear(kAnswerTopic);
    startConversation(draft);
    announceState();
    emit progressChanged();
}

void ChatSession::startConversation(const QString& draft) {
    m_conversation = {};
    m_conversation.id = newId();
    m_conversation.createdMs = nowMs();
    m_conversation.draft = draft;
}

void ChatSession::copyMessage(int row) const {
    if (row < 0 || row >= m_messages.size()) return;
    QGuiApplication::clipboard()->setText(m_messages.at(row).text);
}

/// Ends the running answer on this side at once; the engine follows when it can.
void ChatSession::leaveAnswer() {
    if (!m_running) return;
    m_engine.stop();
    endAnswer(MessageStatus::Stopped, reasonName(FinishReason::kCancelled));
}

void ChatSession::shutDown() {
    leaveAnswer();
    if (m_draftTimer.isActive() || !m_unsaved.isEmpty()) save();
}

void ChatSession::retranslate() {
    m_messages.retranslate();
    emit stateTextChanged();
}

void ChatSession::announceState() {
    emit stateChanged();
    emit stateTextChanged();
}

void ChatSession::takeStorageOpened(const StorageOpened& outcome) {
    if (outcome.problem) m_card.show(describe(*outcome.problem));
    const bool userWasFaster = m_messages.size() > 0;
    if (outcome.last.conversation.id.isEmpty() || userWasFaster) return;
    const QString typed = m_conversation.draft;
    m_conversation = outcome.last.conversation;
    if (!typed.isEmpty()) m_conversation.draft = typed;
    m_messages.reset(outcome.last.messages);
    emit draftChanged();
    emit stateChanged();
}

void ChatSession::saveMessage(const QString& messageId) {
    m_unsaved.insert(messageId);
    save();
}

/// Everything the disk does not have yet, in one transaction.
void ChatSession::save() {
    m_draftTimer.stop();
    m_conversation.changedMs = nowMs();
    QList<MessageRecord> messages;
    for (int row = 0; row < m_messages.size(); ++row) {
        if (!m_unsaved.contains(m_messages.at(row).id)) continue;
        messages.append(m_messages.at(row));
        messages.last().changedMs = m_conversation.changedMs;
    }
    m_saving.lastTicket = m_storage.save(m_conversation, messages);
    m_saving.messageIds.insert(m_saving.lastTicket, std::exchange(m_unsaved, {}));
}

void ChatSession::takeSaved(const SaveOutcome& outcome) {
    const QSet<QString> messageIds = m_saving.messageIds.take(outcome.ticket);
    if (outcome.problem) {
        m_unsaved.unite(messageIds);
        showStorageProblem(*outcome.problem);
    } else if (std::exchange(m_saving.toldFailure, false)) {
        m_card.clear(kStorageTopic);
    }
    const bool answerWaits =
        m_running && !m_running->engineStarted && m_running->saveTicket == outcome.ticket;
    if (answerWaits) startEngine();
}

/// Once, until saving works again.
void ChatSession::showStorageProblem(const StorageProblem& problem) {
    if (problem.kind == StorageProblem::Kind::NotOpen || std::exchange(m_saving.toldFailure, true)) return;
    m_card.show(describe(problem));
}

}  // namespace glmchat
